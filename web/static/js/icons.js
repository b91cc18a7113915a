// The icons, drawn in the colour of the text around them.

import { h } from "preact";
import { html } from "./html.js";
import * as ICONS from "./icon-set.js";
import { STAGES } from "./stages.js";

const OF_STEP = {
  queued: "clock",
  waiting: "box",
  tool_found: "tool",
  no_tool_found: "hammer",
  lessons_shown: "lamp",
  stub: "checks",
  delegation: "chat",
  code_run: "code",
  tool_standing_changed: "book",
  consent: "shield",
  tool_mismatch: "swap",
  project_check: "shield",
  create_file: "plus",
  write_file: "file",
  replace_lines: "code",
  insert_lines: "code",
  remove_lines: "code",
  delete_file: "cross",
  execute_py_file: "play",
  run_tests: "flask",
  read_run: "search",
  add_package: "box",
  finish: "check",
  give_up: "alert",
  restored: "swap",
  turn_failed: "alert",
  turn_stopped: "square",
  turn_resumed: "play",
};

export const ICON_NAMES = Object.keys(ICONS);

export const stepIcon = (kind) => STAGES[kind]?.icon ?? OF_STEP[kind] ?? "activity";

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    ${(ICONS[name] ?? []).map(([shape, attributes], key) => h(shape, { key, ...attributes }))}
  </svg>`;
}

export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" />
    <path d="M10 12.5 6.5 16l3.5 3.500M22 12.500l3.5 3.5-3.5 3.500M16 10v12M11.5 16h9" />
  </svg>`;
}

// A ring that turns while something runs; `label` says what, if no words beside it do.
export const Spinner = ({ label }) =>
  label
    ? html`<span class="spinner" role="img" aria-label=${label}></span>`
    : html`<span class="spinner" aria-hidden="true"></span>`;

export function StateIcon({ state }) {
  if (state === "running") return html`<${Spinner} />`;
  const name = {
    done: "check",
    answered: "check",
    asked: "chat",
    declined: "declined",
    failed: "cross",
    stopped: "square",
    passed: "check",
    error: "cross",
    skipped: "chevronRight",
  }[state];
  return name ? html`<${Icon} name=${name} />` : html`<span class="dot" aria-hidden="true"></span>`;
}
