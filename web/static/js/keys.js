// The keyboard: what a key means where it is pressed, and what then happens.

import { commands } from "./commands.js";
import { commandOf } from "./shortcuts.js";

// Elements that take the keys for themselves while they are open.
const OVERLAYS = "dialog[open], :popover-open, .confirm";
const FIELDS = "input, textarea, select, [contenteditable]";

// Before anything else hears of the key, since that may close what Escape belongs to.
export function acceptKeys() {
  const pressed = (event) => {
    const field = event.target.closest?.(FIELDS);
    const command = commandOf(event, {
      covered: document.querySelector(OVERLAYS) !== null,
      writes: Boolean(field),
      composes: field?.id === "composer",
    });
    if (!command) return;
    event.preventDefault();
    commands[command]();
  };
  addEventListener("keydown", pressed, { capture: true });
}
