// The icons: strokes on a 24 by 24 grid, drawn in the colour of the text around them.

import { html } from "./html.js";
import { STAGES } from "./stages.js";

const PATHS = {
  activity: "M3 12h4l3-8 4 16 3-8h4",
  alert:
    "M12 8v5M12 16.5v.01M10.3 3.9 2.4 17.5A2 2 0 0 0 4.1 20.5h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z",
  arrowDown: "M12 5v14M6 13l6 6 6-6",
  arrowLeft: "M19 12H5M11 6l-6 6 6 6",
  arrowUp: "M12 19V5M6 11l6-6 6 6",
  again: "M4 12a8 8 0 1 0 2.600-5.900L4 8.500M4 3.500v5h5",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15L6 16ZM10 21h4",
  book: "M4 19.5V5a2 2 0 0 1 2-2h14v18H6a2 2 0 0 1-2-1.5ZM4 19a2 2 0 0 1 2-2h14",
  box: "M12 3 4 7.2v9.6L12 21l8-4.2V7.2L12 3ZM4.3 7.4 12 11.5l7.7-4.1M12 11.5V21",
  chat: "M20 4H4a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h3v4l5-4h8a1 1 0 0 0 1-1V5a1 1 0 0 0-1-1Z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  checks: "M4 6.5l1.5 1.5L8.5 5M4 12.5 5.5 14l3-3M4 18.5 5.5 20l3-3M12 7h8M12 13h8M12 19h8",
  chevronDown: "M6 9l6 6 6-6",
  chevronLeft: "M15 6l-6 6 6 6",
  chevronRight: "M9 6l6 6-6 6",
  code: "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5",
  copy: "M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1ZM5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1",
  cross: "M6.5 6.500l11 11M17.5 6.500l-11 11",
  declined: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM5.7 5.700l12.6 12.600",
  download: "M12 4v11M7 10.500l5 5 5-5M5 20h14",
  file: "M14 3H6a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8l-5-5ZM14 3v5h5M9 13h6M9 17h4",
  flask: "M9 3h6M10 3v6.500L4.8 18a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9.500V3M7.5 15h9",
  folder:
    "M3 6.500a1.500 1.500 0 0 1 1.500-1.500H9l2 2.500h8.500A1.500 1.500 0 0 1 21 9v9a1.500 1.500 0 0 1-1.500 1.500h-15A1.500 1.500 0 0 1 3 18V6.500Z",
  hammer:
    "M14.5 6.5 4.4 16.600a2.1 2.1 0 0 0 3 3L17.5 9.500M13 5l2-2 6 6-2 2-2.5-.5L13.5 7.5 13 5Z",
  lamp: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.500 10.900c.7.6 1 1.200 1 2.100h5c0-.9.3-1.500 1-2.100A6 6 0 0 0 12 3Z",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  message: "M4 6h16M4 12h16M4 18h9",
  model:
    "M7 5h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2ZM9.5 9.500h5v5h-5zM9 2v3M15 2v3M9 19v3M15 19v3M2 9h3M2 15h3M19 9h3M19 15h3",
  moon: "M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500Z",
  paperclip:
    "M19.500 11.500 12 19a4.800 4.800 0 0 1-6.800-6.800l8-8a3.200 3.200 0 0 1 4.600 4.600l-7.900 7.900a1.600 1.600 0 0 1-2.300-2.300l7.300-7.300",
  pencil: "M4 20l1-4.500L16.500 4a2 2 0 0 1 3.500 3.500L8.500 19 4 20ZM14.500 6l3.500 3.500",
  pin: "M12 15v6M8 3h8M9 3v6l-3 4v2h12v-2l-3-4V3",
  trash: "M4 7h16M9 7V4h6v3M6.500 7l1 13h9l1-13M10 11v5M14 11v5",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.500v15l12-7.5-12-7.500Z",
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM16 16l4.5 4.5",
  shield:
    "M12 3 5 5.500V11c0 4.5 2.8 8.2 7 10 4.2-1.8 7-5.5 7-10V5.500L12 3ZM8.8 11.800l2.3 2.3 4.2-4.3",
  square: "M7 7h10v10H7z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.900l1.4 1.400M17.7 17.700l1.4 1.400M4.9 19.100l1.4-1.400M17.7 6.300l1.4-1.4",
  swap: "M4 8h13l-3.5-3.500M20 16H7l3.5 3.5",
  tool: "M14.5 6.300a4.5 4.5 0 0 1 5.9-1.100l-3 3 .5 2 2 .5 2-2a4.5 4.5 0 0 1-6.1 5L8.2 21.300a2.1 2.1 0 0 1-3-3L12.8 10.700a4.5 4.5 0 0 1 1.7-4.400Z",
};

const OF_STEP = {
  waiting: "box",
  tool_found: "tool",
  no_tool_found: "hammer",
  lessons_shown: "lamp",
  stub: "checks",
  delegation: "chat",
  code_run: "code",
  tool_standing_changed: "book",
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
};

export const stepIcon = (kind) => STAGES[kind]?.icon ?? OF_STEP[kind] ?? "activity";

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
}

export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" />
    <path d="M10 12.5 6.5 16l3.5 3.500M22 12.500l3.5 3.5-3.5 3.500M16 10v12M11.5 16h9" />
  </svg>`;
}

// The icon of a state: a spinning ring while something runs.
export function StateIcon({ state }) {
  if (state === "running") return html`<span class="spinner" aria-hidden="true"></span>`;
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
