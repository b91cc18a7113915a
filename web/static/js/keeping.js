// Keeping drafts in the tab's storage, so that a reload loses none.

import { packed, unpacked } from "./drafts.js";
import { dispatch, store } from "./store.js";

const KEY = "drafts";

export function keepDrafts() {
  dispatch({ type: "drafts_restored", drafts: unpacked(read()) });
  addEventListener("pagehide", write);
  document.addEventListener("visibilitychange", write);
}

function read() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // The browser stores nothing.
  }
}

function write() {
  try {
    sessionStorage.setItem(KEY, packed(store.peek()));
  } catch {
    // The browser stores nothing: drafts last until the page is closed.
  }
}
