import assert from "node:assert/strict";
import test from "node:test";

import { count, expectedTests, progress, repeatWords } from "../../web/static/js/progress.js";
import { latest, previous, running } from "../../web/static/js/steps.js";
import { addRecords, emptyThread } from "../../web/static/js/thread.js";
import { journal, REPAIRED, result, searching, started, step } from "./journal.js";

const stepsAfter = (events) => addRecords(emptyThread, journal(events)).turns.t1.steps;
const states = (events) =>
  progress(stepsAfter(events)).map(({ state, attempt }) => `${state} ${attempt}`);
const upTo = (name, state, attempt = 1) =>
  REPAIRED.slice(
    0,
    REPAIRED.findIndex((e) => e.step === name && e.state === state && e.attempt === attempt) + 1,
  );

test("a turn that builds no tool has no progress", () => {
  assert.equal(progress(stepsAfter([started("x"), searching])), null);
});

test("a turn that was answered without a tool shows no steps that wait for ever", () => {
  const asked = stepsAfter(upTo("specify", "finished"));
  assert.equal(progress(asked, true), null);
  assert.equal(progress(asked, false).length, 5);
  assert.deepEqual(progress(stepsAfter(REPAIRED), true), progress(stepsAfter(REPAIRED)));
});

test("the five steps are done one after the other", () => {
  assert.deepEqual(progress(stepsAfter(upTo("specify", "started"))), [
    { name: "specify", state: "running", attempt: 1 },
    { name: "test", state: "waiting", attempt: 1 },
    { name: "implement", state: "waiting", attempt: 1 },
    { name: "verify", state: "waiting", attempt: 1 },
    { name: "register", state: "waiting", attempt: 1 },
  ]);
  assert.deepEqual(states(upTo("verify", "failed")), [
    "done 1",
    "done 1",
    "done 1",
    "failed 1",
    "waiting 1",
  ]);
  assert.deepEqual(states(REPAIRED), ["done 1", "done 1", "done 2", "done 2", "done 1"]);
});

test("a repair sets the verification back to waiting", () => {
  assert.deepEqual(states(upTo("implement", "started", 2)), [
    "done 1",
    "done 1",
    "running 2",
    "waiting 1",
    "waiting 1",
  ]);
});

test("a verification expects as many tests as its suite ran on the stub", () => {
  const steps = stepsAfter(upTo("verify", "started", 2));
  assert.equal(expectedTests(steps, latest(steps, "verify")), 2);
  const alone = { kind: "verify", tests: [result("test_a")] };
  assert.equal(expectedTests([alone], alone), 1);
});

test("tests are counted by outcome, errors as failures", () => {
  const tests = [
    result("a"),
    result("b", "failed"),
    result("c", "error"),
    result("d", "skipped"),
    result("e"),
  ];
  assert.deepEqual(count(tests), { total: 5, passed: 2, skipped: 1, failed: 2 });
  assert.deepEqual(count([]), { total: 0, passed: 0, skipped: 0, failed: 0 });
});

test("a repair finds the implementation that it starts from", () => {
  const steps = stepsAfter(REPAIRED);
  const repair = latest(steps, "implement");
  assert.deepEqual([repair.key, previous(steps, repair).key], ["implement-2", "implement-1"]);
  assert.equal(previous(steps, previous(steps, repair)), undefined);
});

test("the running steps are those that have not ended", () => {
  assert.deepEqual(
    running(stepsAfter(upTo("test", "streaming"))).map((s) => s.key),
    ["test-1"],
  );
  assert.deepEqual(running(stepsAfter(REPAIRED)), []);
});

test("further runs of a suite are told in words", () => {
  const same = (order) => ({ order, same: true, detail: "" });
  const other = { order: "shuffled", same: false, detail: "test_a failed" };
  assert.equal(repeatWords([]), "");
  assert.equal(
    repeatWords([same("reversed")]),
    "Again in reversed order, with another hash seed: same result.",
  );
  assert.equal(
    repeatWords([same("reversed"), same("shuffled")]),
    "Again in reversed and in shuffled order, with another hash seed: same result.",
  );
  assert.equal(
    repeatWords([same("reversed"), other]),
    "Again in reversed order, with another hash seed: same result. Again in shuffled order, with another hash seed: test_a failed.",
  );
});

test("while planted bugs and candidates are tried, the verification is the active step", () => {
  const verified = upTo("verify", "finished", 2);
  for (const kind of ["strengthen", "compare"]) {
    const running = verified.concat(step(kind, "started"));
    assert.deepEqual(
      progress(stepsAfter(running)).map(({ state }) => state),
      ["done", "done", "done", "running", "waiting"],
    );
  }
});
