// The steps of a turn: what the activity feed lists. All functions return a new list.

import { leave } from "./course.js";

export const always = () => true;
const isOpen = (step) => step.state === "running";

export function open(steps, step) {
  const number = steps.filter((s) => s.kind === step.kind).length + 1;
  return [
    ...steps,
    { attempt: 1, state: "running", seconds: null, ...step, key: `${step.kind}-${number}` },
  ];
}

// Changes the newest step that `which` accepts; unchanged if there is none.
export function patch(steps, which, change) {
  const index = steps.findLastIndex(which);
  if (index < 0) return steps;
  const step = steps[index];
  return steps.with(index, { ...step, ...(typeof change === "function" ? change(step) : change) });
}

// Ends every running step that `which` accepts in the given state.
export function close(steps, which, state, at) {
  return steps.map((step) => (isOpen(step) && which(step) ? ended(step, state, at) : step));
}

function ended(step, state, at) {
  if (step.kind === "stub")
    return { ...step, state: stubState(step, state), seconds: totalSeconds(step.tests) };
  const parts = step.parts && { parts: step.parts.map((part) => stopped(part, at)) };
  const inner = step.steps && {
    course: leave(step.course, state, at),
    steps: close(step.steps, always, state, at),
  };
  return {
    ...step,
    ...parts,
    ...inner,
    state,
    seconds: step.seconds ?? Math.max(0, (at - step.startedAt) / 1000),
  };
}

// A part of a plan that has ended; a part that was still open was stopped.
function stopped(part, at) {
  if (part.state !== "running" && part.state !== "waiting") return part;
  return {
    ...part,
    state: "stopped",
    course: leave(part.course, "stopped", at),
    steps: close(part.steps, always, "stopped", at),
  };
}

// The stub run is good if no test passes on a function without a body, in any order.
function stubState({ tests, repeats }, state) {
  if (state === "stopped") return state;
  return tests.every((t) => t.outcome !== "passed") && repeats.every((r) => r.same)
    ? "done"
    : "failed";
}

const totalSeconds = (tests) => tests.reduce((sum, t) => sum + t.seconds, 0);

export const running = (steps) => steps.filter(isOpen);

export const latest = (steps, kind) => steps.findLast((step) => step.kind === kind);

// The step of this kind just before `step`, such as the implementation that a repair starts from.
export function previous(steps, step) {
  const index = steps.indexOf(step);
  return steps.slice(0, Math.max(0, index)).findLast((s) => s.kind === step.kind);
}
