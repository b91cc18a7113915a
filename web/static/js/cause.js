// Why a turn failed: a title that names the cause, and which action helps.

import { stepWords } from "./format.js";
import { latest } from "./steps.js";

const PARTS = {
  budget: "A limit was reached",
  model: "The model gave no usable answer",
  sandbox: "The sandbox failed",
  library: "The tool library failed",
};

const TASKS = {
  specify: "I can’t do this yet",
  test: "No usable tests were written",
  implement: "No usable code was written",
  verify: "The tests kept failing",
  plan: "A step of the plan failed",
  building: "The project wasn’t finished",
  internal: "Something broke here",
};

// The type of the exception that ended the newest call of a tool, "" if none did.
function raised(steps) {
  const { state, execution } = latest(steps, "execute") ?? {};
  return state === "failed" && execution?.outcome === "raised" ? execution.type_name : "";
}

export function causeOf({ failure: { where, kind }, steps }) {
  const type = raised(steps);
  if (PARTS[kind]) return PARTS[kind];
  if (type && (!where || where === "execute")) return `The tool raised ${type}`;
  return TASKS[where] ?? (where ? `${stepWords(where)} failed` : "Not done");
}

// Whether other words help: the same request would fail the same way.
export const isBetterRephrased = (turn) =>
  !PARTS[turn.failure.kind] && (turn.failure.where === "specify" || Boolean(raised(turn.steps)));
