// The room for code: how wide the panel is, whether it shows beside the conversation, and whether
// lines of code wrap. The
// browser remembers it, and ../theme.js applies it before the first paint.

import { computed, effect, signal } from "@preact/signals";
import { recall, remember } from "./choices.js";
import { dispatch, store } from "./store.js";

const [WIDTH, OPEN, WRAPS] = ["panel-width", "panel-open", "code-wraps"];
const SIDEBAR = 248; // pixels, as in layout.css
const CHAT = 360; // what is left for the conversation
const ROOM = matchMedia("(min-width: 1200px)"); // for three columns
const NARROW = matchMedia("(max-width: 799px)"); // one view at a time, as in layout.css

export const LEAST = 320;
export const most = () => Math.max(LEAST, innerWidth - CHAT - (ROOM.matches ? SIDEBAR : 0));

const width = signal(recall(WIDTH, null)); // null: as layout.css has it

export const wraps = signal(recall(WRAPS, false) === true);

effect(() => {
  document.documentElement.dataset.wraps = wraps.value;
  remember(WRAPS, wraps.value);
});

export const wide = computed(() => store.value.wide);
const narrow = signal(NARROW.matches);
NARROW.addEventListener("change", () => (narrow.value = NARROW.matches));
// Whether the panel shows without the conversation.
export const alone = computed(() => wide.value || (narrow.value && store.value.view !== "chat"));
const open = computed(() => store.value.panelOpen);

// To a number of pixels, or back to its own width.
export function resize(to) {
  width.value = to === null ? null : Math.round(Math.min(most(), Math.max(LEAST, to)));
}

// Applies what was chosen, now and from now on.
export function keepRoom() {
  const root = document.documentElement;
  if (recall(OPEN, true) === false) dispatch({ type: "panel_toggled", open: false });
  effect(() => {
    if (width.value === null) root.style.removeProperty("--panel-width");
    else root.style.setProperty("--panel-width", `${width.value}px`);
    remember(WIDTH, width.value);
  });
  effect(() => {
    root.dataset.panel = open.value ? "open" : "closed";
    remember(OPEN, open.value);
  });
}
