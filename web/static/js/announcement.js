// A screen reader's announcement of an event: an end and its outcome, never that a step
// begins, single tokens or tests.

import { causeOf } from "./cause.js";
import { agentWords, number, partWords, standingChange, stepWords } from "./format.js";
import { placeOf } from "./plan.js";
import { summaryOf } from "./turn.js";
import { coded, t, words } from "./texts.js";

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
  synthesis_step: (event) =>
    words(`told-step-${event.state}`, "", {
      step: stepWords(event.step),
      text: summaryOf(event),
    }).trim(),
  plan_made: ({ steps: planned }) => t("told-plan", { count: planned.length }),
  plan_step: ({ step, state, text }, turn) =>
    words(`told-plan-step-${state}`, "", { step: number(placeOf(turn.steps, step)), text }),
  delegation: ({ sender, recipient, state, text }) =>
    words(`told-delegation-${state}`, "", {
      sender: agentWords(sender),
      recipient: agentWords(recipient),
      text,
    }),
  executing: ({ tool }) => t("told-running", { tool }),
  execution_failed: ({ tool }) => t("told-run-failed", { tool }),
  files_made: ({ files }) => t("told-made", { names: files.map((f) => f.name).join(", ") }),
  tool_standing_changed: ({ tool, after }) => standingChange(tool, after),
  tool_mismatch: ({ tool, problem, then, ...event }) =>
    t(then === "ask" ? "told-lacking" : "told-mismatch", { tool, problem: coded(event, problem) }),
  project_started: ({ project }) => t("told-building", { project }),
  project_act_chosen: ({ action, reasoning }) => `${stepWords(action)}. ${reasoning}`.trim(),
  project_paused: ({ action, package: wanted }) =>
    wanted
      ? t("told-package-waits", { package: wanted })
      : t("told-action-waits", { action: stepWords(action) }),
  project_ran: ({ path, success }) => t(success ? "told-ran" : "told-ran-badly", { path }),
  turn_finished({ answer: said, outcome = "answered" }, turn) {
    const answer = turn?.answer || said;
    const told = words(`told-${outcome}`, t("told-answered", { answer }), { answer });
    return `${told} ${turn?.failure?.remedy ?? ""}`.trim();
  },
  turn_failed: (event, turn) =>
    [t("told-failed", { message: causeOf(turn) }), turn.failure.remedy].filter(Boolean).join(" "),
  turn_stopped: (event, { stopReason }) => t("told-stopped", { reason: stopReason }).trim(),
};

// Events within a step of a plan, or in the work of an agent, are announced by that.
const isInner = ({ type, plan_step: step, within }) =>
  Boolean(step || (within && type !== "delegation"));

// `turn` is the event's.
export const announcementOf = ({ event }, turn) =>
  isInner(event) ? "" : (sentences[event.type]?.(event, turn) ?? "");
