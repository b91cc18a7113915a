import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import { endedBetween, noticeOf, titleOf } from "../../web/static/js/attention.js";
import { addRecords, emptyThread } from "../../web/static/js/thread.js";
import { finished, journal, started } from "./journal.js";
import { newTurn } from "../../web/static/js/turn.js";

const ended = (more) => ({
  ...newTurn("t1", 0),
  request: "Plot it\nin blue",
  state: "done",
  outcome: "answered",
  answer: "Here it is.",
  seconds: 12,
  ...more,
});

test("a turn ends between two states of its thread once, also by records that were missed", () => {
  const records = journal([started("go"), finished("Done.")]);
  const running = addRecords(emptyThread, records.slice(0, 1));
  const done = addRecords(running, records.slice(1));
  assert.deepEqual(
    endedBetween(running, done).map(({ request, state }) => [request, state]),
    [["go", "done"]],
  );
  for (const [before, after] of [
    [emptyThread, running],
    [emptyThread, done],
    [running, running],
    [done, done],
  ])
    assert.deepEqual(endedBetween(before, after), []);
});

test("the title counts what has ended and names the newest", () => {
  assert.equal(titleOf([], "Name"), "Name");
  assert.equal(titleOf([ended()], "Name"), "(1) Done: Plot it");
  assert.equal(titleOf([ended(), ended({ outcome: "asked" })], "Name"), "(2) A question: Plot it");
});

test("a notification tells the end of a turn that took long", () => {
  assert.deepEqual(noticeOf(ended()), { title: "Done: Plot it", body: "Here it is." });
  assert.deepEqual(
    noticeOf(ended({ outcome: "failed", failure: { kind: "sandbox", cause: "" } })),
    {
      title: "Not done: Plot it",
      body: "The sandbox failed",
    },
  );
  for (const short of [{ seconds: 9 }, { seconds: null }, { outcome: "stopped" }])
    assert.equal(noticeOf(ended(short)), null);
});
