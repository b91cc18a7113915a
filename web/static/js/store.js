// The store: the page's state as one signal, changed by dispatching actions to the reducer.

import { signal } from "@preact/signals";
import { initialState, reduce } from "./reducer.js";

export const store = signal(initialState);

export function dispatch(action) {
  store.value = reduce(store.peek(), action);
}

// A narrow page has one view at a time; a wide one has the others beside the conversation.
export const show = (view) => dispatch({ type: "view_selected", view });
export const openTool = (name) => dispatch({ type: "tool_opened", name });
