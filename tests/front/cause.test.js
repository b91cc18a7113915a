import assert from "node:assert/strict";
import test from "node:test";

import { causeOf, isBetterRephrased, remedyOf } from "../../web/static/js/cause.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { executing, failed, journal, second, started } from "./journal.js";

const folded = (...events) =>
  journal([started("x"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const gaveUp = (where, kind, cause = "") => folded({ ...failed(where, "it failed"), kind, cause });

test("the title of a failure names its cause", () => {
  const cases = [
    [gaveUp("implement", "model"), "The model gave no usable answer"],
    [gaveUp("specify", "model", "unreachable"), "The model can’t be reached"],
    [gaveUp("specify", "model", "no_access"), "The model’s server refused access"],
    [gaveUp("specify", "model", "newer"), "The model gave no usable answer"],
    [gaveUp("verify", "sandbox"), "The sandbox failed"],
    [gaveUp("verify", "sandbox", "missing"), "No sandbox"],
    [gaveUp("coder", "task"), "The coder failed"],
    [gaveUp("test", "budget"), "A limit was reached"],
    [gaveUp("verify", "task"), "The tests kept failing"],
    [gaveUp("specify", "task"), "I can’t do this yet"],
    [gaveUp("internal", "internal"), "Something broke here"],
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
  assert.equal(isBetterRephrased(turn), true);
  assert.equal(isBetterRephrased(gaveUp("execute", "sandbox")), false);
  assert.equal(isBetterRephrased(gaveUp("execute", "model", "too_long")), true);
});

test("a model server that can't be reached leads to the settings, not to a setting's name", () => {
  const remedy = "try again later; check the server at OPENAI_BASE_URL";
  assert.equal(
    remedyOf({ kind: "model", cause: "unreachable", remedy }),
    "Check that the server runs, or choose another one in the settings.",
  );
  assert.equal(remedyOf({ kind: "model", cause: "too_long", remedy }), remedy);
  assert.match(remedyOf({ kind: "budget", cause: "month", remedy }), /in the settings/);
  assert.equal(remedyOf({ kind: "budget", cause: "", remedy }), remedy);
  assert.equal(remedyOf({ remedy }), remedy);
});
