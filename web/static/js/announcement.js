// What a screen reader is told of an event: the turns of a story, never single tokens or tests.

import { STEP_WORDS } from "./format.js";

const steps = {
  started: ({ step, attempt }) => `${STEP_WORDS[step]} started${attempt > 1 ? `, attempt ${attempt}` : ""}.`,
  streaming: () => "",
  finished: ({ step, text }) => `${STEP_WORDS[step]} done. ${text}`.trim(),
  failed: ({ step, text }) => `${STEP_WORDS[step]} failed. ${text}`.trim(),
};

const sentences = {
  searching: () => "Searching the library.",
  tool_found: ({ tool }) => `Found the tool ${tool}.`,
  no_tool_found: () => "No tool found; one will be written.",
  lessons_shown: ({ lessons }) => `Lessons of earlier turns: ${lessons.map((l) => l.advice).join(" ")}`,
  synthesis_step: (event) => steps[event.state](event),
  executing: ({ tool }) => `Running ${tool}.`,
  execution_failed: ({ tool }) => `${tool} failed.`,
  files_made: ({ files }) => `Made ${files.map((f) => f.name).join(", ")}.`,
  tool_standing_changed: ({ tool, after, reason }) => `${tool} is ${after} now. ${reason}`,
  tool_mismatch: ({ tool, problem }) => `${tool} does not fit: ${problem}`,
  turn_finished: ({ answer }) => `Answer: ${answer}`,
  turn_failed: ({ message, remedy, reached = "" }) => ["The turn failed:", `${message}.`, reached, remedy].filter(Boolean).join(" "),
  turn_stopped: ({ reason }) => `Stopped: ${reason}`,
};

export const announcementOf = ({ event }) => sentences[event.type]?.(event) ?? "";
