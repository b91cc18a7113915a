import assert from "node:assert/strict";
import test from "node:test";

import { causeOf, isBetterRephrased } from "../../web/static/js/cause.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { executing, failed, journal, second, started } from "./journal.js";

const folded = (...events) =>
  journal([started("x"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const gaveUp = (where, kind) => folded({ ...failed(where, "it failed"), kind });

test("the title of a failure names its cause", () => {
  const cases = [
    [gaveUp("implement", "model"), "The model gave no usable answer"],
    [gaveUp("verify", "sandbox"), "The sandbox failed"],
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
});
