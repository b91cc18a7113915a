// The keyboard: what a key means where it is pressed, and what then happens.

import { stop } from "./connection.js";
import { commandOf } from "./shortcuts.js";
import { currentThread } from "./reducer.js";
import { openConversation } from "./route.js";
import { dispatch, store } from "./store.js";
import { turnsOf } from "./thread.js";

// What takes the keys for itself while it is open.
const OVERLAYS = "dialog[open], :popover-open, .confirm, [role=menu]";
const FIELDS = "input, textarea, select, [contenteditable]";

const commands = {
  begin() {
    openConversation(null);
    dispatch({ type: "composer_wanted" });
  },
  stop() {
    const state = store.peek();
    const turn = turnsOf(currentThread(state)).findLast((t) => t.state === "running");
    if (turn && !state.stopping[turn.id]) stop(turn.id);
  },
  focus: () => dispatch({ type: "composer_wanted" }),
  list: () => document.getElementById("shortcuts").showModal(),
};

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
