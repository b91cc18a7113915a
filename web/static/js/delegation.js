// A delegation: a message from one agent to another, as one step of its turn; what it causes is
// folded inside it like a turn.

import { leave } from "./course.js";
import { always, close, open, patch } from "./steps.js";

const isDelegation = (step) => step.kind === "delegation";
const isOf = (id) => (step) => isDelegation(step) && step.id === id;

export function openDelegation(steps, { id, sender, recipient, text }, at) {
  return open(steps, {
    kind: "delegation",
    id,
    sender,
    recipient,
    message: text,
    reply: "",
    startedAt: at,
    course: [],
    steps: [],
    made: [],
  });
}

export function endDelegation(steps, { id, state, text, seconds }, at) {
  const ended = state === "failed" ? "failed" : "done";
  return patch(steps, isOf(id), (step) => ({
    state: ended,
    reply: text,
    seconds,
    course: leave(step.course, ended, at),
    steps: close(step.steps, always, ended, at),
  }));
}

// Changes the delegation of that id, however deep; unchanged if there is none.
export function patchDelegation(steps, id, change) {
  return steps.map((step) => {
    if (!isDelegation(step)) return step;
    return step.id === id
      ? change(step)
      : { ...step, steps: patchDelegation(step.steps, id, change) };
  });
}

// The step that runs now, innermost.
export function runningStep(steps) {
  const step = steps.findLast((s) => s.state === "running");
  return (step && isDelegation(step) && runningStep(step.steps)) || step;
}
