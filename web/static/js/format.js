// Words and numbers for people.

import { STAGES } from "./stages.js";

// Titles of steps that are not stages.
const STEP_WORDS = {
  waiting: "Set-up",
  tool_found: "Tool found",
  no_tool_found: "No tool fits",
  lessons_shown: "Lessons",
  stub: "Tests against an empty stub",
  delegation: "Handed to an agent",
  code_run: "Code",
  coder: "The coder",
  proxy: "The user proxy",
  builder: "The project builder",
  tool_standing_changed: "Standing",
  tool_mismatch: "Tool does not fit",
  project_check: "Check",
  create_file: "Create a file",
  write_file: "Write a file",
  replace_lines: "Replace lines",
  insert_lines: "Insert lines",
  remove_lines: "Remove lines",
  delete_file: "Delete a file",
  execute_py_file: "Run",
  run_tests: "Run the tests",
  read_run: "Read more output",
  add_package: "Ask for a package",
  finish: "Finish",
  give_up: "Give up",
  restored: "Restore",
  building: "Build",
  acting: "Action",
  turn_failed: "Turn failed",
  turn_stopped: "Stopped",
  internal: "Internal",
};

const NOW_WORDS = {
  waiting: "Waiting for the set-up",
  stub: "Checking that the tests fail without an implementation",
  delegation: "An agent is at work",
  code_run: "Running code in the sandbox",
  project_check: "Checking the project",
  execute_py_file: "Running it in the sandbox",
  run_tests: "Running the tests in the sandbox",
};

const AGENT_WORDS = {
  user: "You",
  proxy: "user proxy",
  coder: "coder",
  toolsmith: "toolsmith",
  builder: "project builder",
};

export const agentWords = (name) => AGENT_WORDS[name] ?? name;

export const nowWords = (kind) => STAGES[kind]?.now ?? NOW_WORDS[kind] ?? "Working";

export const stepWords = (kind) => STAGES[kind]?.title ?? STEP_WORDS[kind] ?? kind;

// A part of a sentence as a whole one.
export const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}.`;

export const STATE_WORDS = {
  running: "running",
  done: "done",
  failed: "failed",
  stopped: "stopped",
  waiting: "waiting",
};

const PART_WORDS = {
  search: "The semantic search",
  sandbox: "The sandbox",
  tools: "The seed tools",
};

// What a start sets up.
export const partWords = (part) => PART_WORDS[part] ?? part;

const BACKENDS = { docker: "a Docker container", bubblewrap: "a bubblewrap container" };

export const backendWords = (backend) => BACKENDS[backend] ?? "a container";

const whole = new Intl.NumberFormat("en");

export const number = (value) => whole.format(value);

export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 0.0005) return "<1 ms";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  return `${minutes} min ${Math.round(seconds) % 60} s`;
}

export function fileSize(bytes) {
  if (bytes < 1024) return `${number(bytes)} B`;
  if (bytes < 1024 * 1000) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB`;
  return `${Number((bytes / 1048576).toFixed(1))} MB`;
}

export const percent = (share) => `${Math.round(share * 100)}%`;

export function usageText(usage) {
  if (!usage || usage.calls === 0) return "";
  const tokens = plural(usage.input_tokens + usage.output_tokens, "token");
  return [plural(usage.calls, "model call"), tokens, costText(usage.cost)]
    .filter(Boolean)
    .join(" · ");
}

// What a turn has spent next to its limits, in words, and the share of the nearest limit.
export function budgetOf({ usage, limits, seconds }) {
  const tokens = usage.input_tokens + usage.output_tokens;
  const parts = [
    [usage.calls, limits.calls, `${number(usage.calls)} of ${plural(limits.calls, "model call")}`],
    [tokens, limits.tokens, `${number(tokens)} of ${plural(limits.tokens, "token")}`],
    [seconds, limits.seconds, `at most ${number(limits.seconds)} s`],
  ];
  if (limits.cost != null)
    parts.push([
      usage.cost ?? 0,
      limits.cost,
      `$${(usage.cost ?? 0).toFixed(4)} of $${limits.cost}`,
    ]);
  else if (usage.cost) parts.push([0, 1, costText(usage.cost)]);
  const share = Math.max(
    ...parts.map(([spent, limit]) => (limit > 0 ? Math.min(1, spent / limit) : 1)),
  );
  return { words: parts.map(([, , words]) => words).join(" · "), share };
}

// US dollars; empty if the price is unknown or zero.
function costText(cost) {
  if (!cost) return "";
  return cost < 0.0001 ? "<$0.0001" : `$${cost.toFixed(4)}`;
}

const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

export function date(text) {
  const parsed = new Date(text);
  return Number.isNaN(parsed.valueOf()) ? "" : day.format(parsed);
}

const minute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

export function moment(text) {
  const parsed = new Date(text);
  return Number.isNaN(parsed.valueOf()) ? "" : minute.format(parsed);
}

// A sentence in pieces, {code, words} each: code stood between backticks. A backtick without a second one stays.
export const proseParts = (text) =>
  String(text)
    .split(/`([^`\n]+)`/)
    .map((words, i) => ({ code: i % 2 === 1, words }))
    .filter(({ words }) => words);

export function firstLine(text) {
  return text.trim().split("\n", 1)[0];
}
