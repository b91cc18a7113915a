// What a screen reader announces of an event: the main steps, never single tokens or tests.

import { agentWords, partWords, plural, stepWords } from "./format.js";

const steps = {
  started: ({ step, attempt }) =>
    `${stepWords(step)} started${attempt > 1 ? `, attempt ${attempt}` : ""}.`,
  streaming: () => "",
  finished: ({ step, text }) => `${stepWords(step)} done. ${text}`.trim(),
  failed: ({ step, text }) => `${stepWords(step)} failed. ${text}`.trim(),
};

const planSteps = {
  started: ({ step }) => `Step ${step} started.`,
  finished: ({ step, text }) => `Step ${step} done: ${text}`,
  failed: ({ step, text }) => `Step ${step} failed: ${text}`,
};

const delegations = {
  started: (sender, recipient, text) => `${sender} to ${recipient}: ${text}`,
  finished: (sender, recipient, text) => `${recipient} replies: ${text}`,
  failed: (sender, recipient, text) => `${recipient} failed: ${text}`,
};

const ENDS = { answered: "Answer", asked: "Question", declined: "Declined", failed: "Not done" };

const sentences = {
  waiting: ({ part, state }) =>
    state === "started" ? `Waiting for the set-up: ${partWords(part).toLowerCase()}.` : "",
  searching: () => "Searching the library.",
  tool_found: ({ tool }) => `Found the tool ${tool}.`,
  no_tool_found: () => "No tool found; one will be written.",
  lessons_shown: ({ lessons }) =>
    `Lessons of earlier turns: ${lessons.map((l) => l.advice).join(" ")}`,
  synthesis_step: (event) => steps[event.state](event),
  plan_made: ({ steps: planned }) => `It takes ${plural(planned.length, "step")}.`,
  plan_step: (event) => planSteps[event.state](event),
  delegation: ({ sender, recipient, state, text }) =>
    delegations[state](agentWords(sender), agentWords(recipient), text),
  executing: ({ tool }) => `Running ${tool}.`,
  execution_failed: ({ tool }) => `${tool} failed.`,
  files_made: ({ files }) => `Made ${files.map((f) => f.name).join(", ")}.`,
  tool_standing_changed: ({ tool, after, reason }) => `${tool} is ${after} now. ${reason}`,
  tool_mismatch: ({ tool, problem }) => `${tool} does not fit: ${problem}`,
  project_started: ({ project }) => `Building ${project}.`,
  project_act_chosen: ({ action, reasoning }) => `${stepWords(action)}. ${reasoning}`.trim(),
  project_paused: ({ action, package: wanted }) =>
    wanted
      ? `The package ${wanted} waits for your approval.`
      : `${stepWords(action)} waits for your approval.`,
  project_ran: ({ path, success }) => `${path} ${success ? "ran" : "failed"}.`,
  turn_finished: ({ answer, outcome = "answered", remedy = "" }) =>
    [`${ENDS[outcome] ?? ENDS.answered}: ${answer}`, remedy].filter(Boolean).join(" "),
  turn_failed: ({ message, remedy, reached = "" }) =>
    ["The turn failed:", `${message}.`, reached, remedy].filter(Boolean).join(" "),
  turn_stopped: ({ reason }) => `Stopped: ${reason}`,
};

// What happens within a step of a plan, or in the work of an agent, is announced by that.
const isInner = ({ type, plan_step: step, within }) =>
  Boolean(step || (within && type !== "delegation"));

export const announcementOf = ({ event }) =>
  isInner(event) ? "" : (sentences[event.type]?.(event) ?? "");
