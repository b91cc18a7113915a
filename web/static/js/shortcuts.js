// The shortcuts in one table: what is listed, and which command a key is.

import { words } from "./texts.js";

const ANYWHERE = "anywhere"; // in fields too
const COMPOSER = "composer"; // outside fields, and in the composer
const OUTSIDE = "outside"; // outside fields

// Those without a `command` belong to what has the focus. A slash may need Shift.
export const SHORTCUTS = [
  { id: "send", keys: ["Enter"] },
  { id: "line", keys: ["Shift", "Enter"] },
  { id: "edit", keys: ["↑"] },
  { id: "stop", keys: ["Escape"], command: "stop", where: COMPOSER },
  { id: "focus", keys: ["/"], command: "focus", where: OUTSIDE },
  { id: "palette", keys: ["Ctrl", "K"], command: "palette", where: ANYWHERE },
  { id: "panel", keys: ["Ctrl", "B"], command: "panel", where: ANYWHERE },
  { id: "begin", keys: ["Ctrl", "Shift", "O"], command: "begin", where: ANYWHERE },
  { id: "rename", keys: ["F2"] },
  { id: "delete", keys: ["Delete"] },
  { id: "list", keys: ["Ctrl", "/"], command: "list", where: ANYWHERE },
];

const isAllowed = {
  [ANYWHERE]: () => true,
  [COMPOSER]: ({ writes, composes }) => !writes || composes,
  [OUTSIDE]: ({ writes }) => !writes,
};

// `covered`: something open takes the keys; `writes`: the focus is in a field; `composes`: in the
// composer. On a Mac the command key counts as Ctrl.
export function commandOf(event, { covered, ...where }) {
  if (covered || event.isComposing || event.repeat || event.altKey) return null;
  const found = SHORTCUTS.find(({ command, keys }) => command && isPressed(keys, event));
  return found && isAllowed[found.where](where) ? found.command : null;
}

function isPressed(keys, event) {
  const key = keys.at(-1);
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    Boolean(event.ctrlKey || event.metaKey) === keys.includes("Ctrl") &&
    (key === "/" || Boolean(event.shiftKey) === keys.includes("Shift"))
  );
}

const ON_MAC = { Ctrl: "⌘", Shift: "⇧" };
const isMac = /Mac|iP(hone|ad)/.test(globalThis.navigator?.platform ?? "");

// A key as it is written on the keyboard.
export function keyWords(key) {
  return (isMac && ON_MAC[key]) || words(`key-${key.toLowerCase()}`, key);
}

export const keysOf = (id) => SHORTCUTS.find((shortcut) => shortcut.id === id).keys;
