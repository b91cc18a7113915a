// The commands' effects, by whatever key, button or entry of the palette they are given.

import { exportAddress } from "./api.js";
import { stop } from "./connection.js";
import { NEW_PROJECT } from "./projects.js";
import { currentThread } from "./reducer.js";
import { wraps } from "./room.js";
import { openConversation } from "./route.js";
import { dispatch, store } from "./store.js";
import { turnsOf } from "./thread.js";

const show = (view) => () => dispatch({ type: "view_selected", view });

function download(form) {
  const link = document.createElement("a");
  link.href = exportAddress(store.peek().conversationId, form);
  link.download = "";
  link.click();
}

export const commands = {
  begin() {
    openConversation(null);
    dispatch({ type: "composer_wanted" });
  },
  temporary() {
    commands.begin();
    dispatch({ type: "choice_made", id: null, choice: { temporary: true } });
  },
  // Escape: what is wide gives its room back first.
  stop() {
    const state = store.peek();
    if (state.wide) return dispatch({ type: "panel_widened", wide: false });
    const turn = turnsOf(currentThread(state)).findLast((t) => t.state === "running");
    if (turn && !state.stopping[turn.id]) stop(turn.id);
  },
  focus: () => dispatch({ type: "composer_wanted" }),
  project: () => openConversation(NEW_PROJECT),
  share: () => dispatch({ type: "share_wanted", id: store.peek().conversationId }),
  palette: () => dispatch({ type: store.peek().palette ? "palette_closed" : "palette_opened" }),
  list: () => document.getElementById("shortcuts").showModal(),
  attach() {
    dispatch({ type: "composer_wanted" });
    document.querySelector("[data-testid=file-input]")?.click();
  },
  "export-md": () => download("md"),
  "export-json": () => download("json"),
  panel: () => dispatch({ type: "panel_toggled" }),
  wide: () => dispatch({ type: "panel_widened" }),
  wrap: () => (wraps.value = !wraps.peek()),
  activity: show("activity"),
  library: show("library"),
  lessons: show("lessons"),
  settings: () => dispatch({ type: "settings_opened" }),
  browser: () => dispatch({ type: "settings_opened" }),
};

const OF_KIND = {
  action: (key) => commands[key](),
  ask: (text) => dispatch({ type: "example_chosen", text }),
  conversation: openConversation,
  lesson: commands.lessons,
  project: openConversation,
  tool: (name) => dispatch({ type: "tool_opened", name }),
};

// Does what an entry of the palette says.
export const perform = ({ kind, key }) => OF_KIND[kind](key);
