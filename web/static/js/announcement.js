// What a screen reader announces of an event: what has ended and what it came to, never that a step
// begins, single tokens or tests.

import { agentWords, number, partWords, stepWords } from "./format.js";
import { placeOf } from "./plan.js";
import { hasText, t } from "./texts.js";

const steps = {
  finished: ({ step, text }) => `${t("told-step-done", { step: stepWords(step) })} ${text}`.trim(),
  failed: ({ step, text }) => `${t("told-step-failed", { step: stepWords(step) })} ${text}`.trim(),
};

const planSteps = {
  finished: (step, text) => t("told-plan-step-done", { step, text }),
  failed: (step, text) => t("told-plan-step-failed", { step, text }),
};

const worded = (id, values) => (hasText(id) ? t(id, values) : "");

const sentences = {
  turn_resumed: () => t("told-resumed"),
  turn_queued: ({ place }) => (place ? t("told-queued", { place }) : ""),
  model_asked_again: ({ attempt }) => t("told-asked-again", { attempt }),
  model_silent: ({ seconds }) => t("told-silent", { seconds }),
  waiting: ({ part, state }) =>
    state === "started" ? t("told-waiting", { part: partWords(part) }) : "",
  searching: () => t("told-searching"),
  tool_found: ({ tool }) => t("told-found", { tool }),
  no_tool_found: () => t("told-none-found"),
  lessons_shown: ({ lessons }) =>
    t("told-lessons", { lessons: lessons.map((l) => l.advice).join(" ") }),
  synthesis_step: (event) => steps[event.state]?.(event) ?? "",
  plan_made: ({ steps: planned }) => t("told-plan", { count: planned.length }),
  plan_step: ({ step, state, text }, turn) =>
    planSteps[state]?.(number(placeOf(turn.steps, step)), text) ?? "",
  delegation: ({ sender, recipient, state, text }) =>
    worded(`told-delegation-${state}`, {
      sender: agentWords(sender),
      recipient: agentWords(recipient),
      text,
    }),
  executing: ({ tool }) => t("told-running", { tool }),
  execution_failed: ({ tool }) => t("told-run-failed", { tool }),
  files_made: ({ files }) => t("told-made", { names: files.map((f) => f.name).join(", ") }),
  tool_standing_changed: ({ tool, after, reason }) =>
    `${worded(`told-standing-${after}`, { tool })} ${reason}`.trim(),
  tool_mismatch: ({ tool, problem, then }) =>
    t(then === "ask" ? "told-lacking" : "told-mismatch", { tool, problem }),
  project_started: ({ project }) => t("told-building", { project }),
  project_act_chosen: ({ action, reasoning }) => `${stepWords(action)}. ${reasoning}`.trim(),
  project_paused: ({ action, package: wanted }) =>
    wanted
      ? t("told-package-waits", { package: wanted })
      : t("told-action-waits", { action: stepWords(action) }),
  project_ran: ({ path, success }) => t(success ? "told-ran" : "told-ran-badly", { path }),
  turn_finished: ({ answer, outcome = "answered", remedy = "" }) =>
    `${worded(`told-${outcome}`, { answer }) || t("told-answered", { answer })} ${remedy}`.trim(),
  turn_failed: ({ message, remedy, reached = "" }) =>
    [t("told-failed", { message }), reached, remedy].filter(Boolean).join(" "),
  turn_stopped: ({ reason }) => t("told-stopped", { reason }),
};

// What happens within a step of a plan, or in the work of an agent, is announced by that.
const isInner = ({ type, plan_step: step, within }) =>
  Boolean(step || (within && type !== "delegation"));

// `turn` is the event's.
export const announcementOf = ({ event }, turn) =>
  isInner(event) ? "" : (sentences[event.type]?.(event, turn) ?? "");
