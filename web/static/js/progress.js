// The progress of a turn: the stages that it went through, each with its state and the step that shows it.

import { STAGES } from "./stages.js";

// A turn that only finds a tool, runs it and answers is shown by one line.
const QUICK = new Set(["gather", "search", "clarify", "specify", "prepare", "execute", "respond"]);

// The step that usually comes next, as far as that can be known.
const NEXT = {
  probe: "test",
  test: "implement",
  implement: "verify",
  compare: "verify",
  verify: "register",
  repair: "verify",
  strengthen: "register",
  register: "prepare",
  prepare: "execute",
  execute: "respond",
  mend: "execute",
  refactor: "respond",
  delegate: "respond",
};

// Steps that a stage is known by, beside the one of its own name.
const STAGE_OF = { tool_found: "search", no_tool_found: "search", delegation: "delegate" };
// Prompts whose steps belong to the stage that asked for them.
const ASKED_BY = { repair: "repair", mend: "mend", more_tests: "strengthen" };

export const stageOf = ({ kind, prompt }) =>
  ASKED_BY[prompt] ?? STAGE_OF[kind] ?? (kind in STAGES ? kind : null);

// {stage, state, attempt, path} in the order in which the turn came to them, and while it runs
// those that usually follow.
// Null: one line says enough, or a plan does.
export function progress({ course, steps, state }) {
  const visits = course.length > 0 ? course : visitsIn(steps);
  const names = [...new Set(visits.map(({ node }) => node))];
  if (names.every((name) => QUICK.has(name)) || names.includes("plan")) return null;
  const parts = names
    .filter((name) => name !== "gather")
    .map((name) => partOf(name, visits, steps));
  if (state !== "running") return parts;
  for (let next = NEXT[visits.at(-1).node]; next; next = NEXT[next])
    if (!names.includes(next))
      parts.push({ stage: next, state: "waiting", attempt: 1, path: null });
  return parts;
}

function partOf(stage, visits, steps) {
  const visit = visits.findLast(({ node }) => node === stage);
  const own = steps.findLast((step) => stageOf(step) === stage);
  const shows = own ?? steps.find(({ startedAt }) => startedAt >= visit.startedAt) ?? steps.at(-1);
  return {
    stage,
    state: visit.state === "done" && own?.state === "failed" ? "failed" : visit.state,
    attempt: visits.filter(({ node }) => node === stage).length,
    path: shows?.key ?? null,
  };
}

// Journals of older versions have no stages: those that the steps name.
function visitsIn(steps) {
  return steps.flatMap((step, i) => {
    const node = stageOf(step);
    if (!node || (i > 0 && stageOf(steps[i - 1]) === node)) return [];
    return [{ node, state: step.state, startedAt: step.startedAt }];
  });
}
