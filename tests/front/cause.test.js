import assert from "node:assert/strict";
import test from "node:test";

import { causeOf, inWords, isBetterRephrased, vainFailure } from "../../web/static/js/cause.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { executing, failed, journal, second, started } from "./journal.js";

const folded = (...events) =>
  journal([started("x"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const gaveUp = (where, kind, cause = "", values = undefined) =>
  folded({ ...failed(where, "it failed", "set A_SETTING"), kind, cause, values });
const server = "http://localhost:11434/v1";

test("the title of a failure names its cause", () => {
  const cases = [
    [gaveUp("implement", "model"), "The model gave no usable answer"],
    [gaveUp("specify", "model", "unreachable"), "The model’s server can’t be reached"],
    [gaveUp("specify", "model", "unreachable", { server }), `${server} can’t be reached`],
    [gaveUp("specify", "model", "no_access", { server }), `${server} refused access`],
    [gaveUp("specify", "model", "newer"), "The model gave no usable answer"],
    [gaveUp("verify", "sandbox"), "The sandbox failed"],
    [gaveUp("verify", "sandbox", "missing"), "There is no sandbox to run code in"],
    [gaveUp("coder", "task"), "The coder failed"],
    [gaveUp("test", "budget"), "A limit was reached"],
    [
      gaveUp("test", "budget", "calls", { limit: 1200 }),
      "The limit of 1,200 model calls was reached",
    ],
    [gaveUp("verify", "task"), "The tests kept failing"],
    [gaveUp("specify", "task"), "I can’t do this yet"],
    [gaveUp("internal", "internal"), "Something broke here"],
    [gaveUp("internal", "internal", "database"), "The database can’t be used"],
  ];
  assert.deepEqual(
    cases.map(([turn]) => causeOf(turn)),
    cases.map(([, title]) => title),
  );
});

test("a tool that raised is named by its exception, and other words are offered", () => {
  const raised = {
    type: "execution_failed",
    tool: "divide",
    execution: { outcome: "raised", type_name: "ValueError", message: "no rows", traceback: "" },
    seconds: 0.1,
  };
  const end = { type: "turn_finished", answer: "It failed.", tool: null, outcome: "failed" };
  const turn = folded(executing, raised, end);
  assert.equal(causeOf(turn), "The tool raised ValueError");
  assert.equal(turn.failure.remedy, "Change the input, or say how such input is to be treated.");
  assert.equal(isBetterRephrased(turn), true);
  assert.equal(isBetterRephrased(gaveUp("execute", "sandbox")), false);
  assert.equal(isBetterRephrased(gaveUp("execute", "model", "too_long")), true);
  assert.equal(vainFailure([], []).remedy, "Say it in other words, or in smaller parts.");
});

test("what the server says is a detail, what a model says is for the person", () => {
  const { failure } = gaveUp("specify", "model", "unreachable", { server });
  assert.equal(
    failure.remedy,
    "Check that the server runs, or choose another one in the settings.",
  );
  assert.deepEqual([failure.message, failure.details], ["", "it failed\nset A_SETTING"]);
  const said = gaveUp("coder", "task", "said").failure;
  assert.deepEqual([said.message, said.details], ["it failed", ""]);
});

test("an error of the server is in the page's words, and the page's own stays as it is", () => {
  const error = { message: "the queue is full", remedy: "wait", kind: "request", cause: "full" };
  assert.deepEqual(inWords(error), {
    message: "There is no room for more at the moment",
    remedy: "Wait until something has ended, or remove something.",
    details: "the queue is full\nwait",
    settings: false,
    fields: undefined,
  });
  const unknown = inWords({ message: "no", kind: "request", cause: "newer" });
  assert.deepEqual([unknown.message, unknown.details], ["The server does not accept this", "no"]);
  const own = { message: "The server did not answer." };
  assert.equal(inWords(own), own);
});
