// A plan: the steps of a request that takes several, as one step of its turn; each part is folded like a turn.

import { leave } from "./course.js";
import { always, close, open, patch } from "./steps.js";

const waiting = ({ id, request, needs }) => ({
  id,
  request,
  needs,
  state: "waiting",
  tool: null,
  text: "",
  startedAt: null,
  seconds: null,
  course: [],
  steps: [],
  made: [],
});

const isPlan = (step) => step.kind === "plan";

export const openPlan = (steps, planned, at) =>
  open(steps, { kind: "plan", startedAt: at, parts: planned.map(waiting) });

export const planOf = (steps) => steps.findLast(isPlan) ?? null;

// Which step of the newest plan has that id, from 1.
export const placeOf = (steps, id) =>
  (planOf(steps)?.parts.findIndex((part) => part.id === id) ?? -1) + 1;

// Changes one part of the newest plan; unchanged if there is no such part.
export function patchPart(steps, id, change) {
  return patch(steps, isPlan, ({ parts }) => ({
    parts: parts.map((part) => (part.id === id ? change(part) : part)),
  }));
}

// Applies the event `plan_step` to a part; the plan is done with its last part.
export function foldPart(steps, { step: id, state, tool, text, seconds }, at) {
  const next = patchPart(steps, id, (part) => {
    if (state === "started") return { ...part, state: "running", startedAt: at };
    const ended = state === "failed" ? "failed" : "done";
    return {
      ...part,
      state: ended,
      tool: tool ?? null,
      text,
      seconds,
      course: leave(part.course, ended, at),
      steps: close(part.steps, always, ended, at),
    };
  });
  return planOf(next)?.parts.every((part) => part.state === "done")
    ? close(next, isPlan, "done", at)
    : next;
}

// Whether one tool can be made of a turn's plan: it succeeded, and every part ran a tool of its own.
export const canBeKept = (turn) =>
  turn.state === "done" &&
  Boolean(planOf(turn.steps)?.parts.every(({ tool, startedAt }) => tool && startedAt !== null));
