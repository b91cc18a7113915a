// The store: the page's state as one signal, changed by dispatching actions to the reducer.

import { signal } from "@preact/signals";
import { initialState, reduce } from "./reducer.js";

export const store = signal(initialState);

export function dispatch(action) {
  store.value = reduce(store.peek(), action);
}
