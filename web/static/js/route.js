// The route: the conversation's id in the URL's hash, so that a reload shows the same conversation; after it, where a
// link leads to a step, the turn and the step's path.

import { effect } from "@preact/signals";
import { ensureSubscribed } from "./connection.js";
import { seeConversation } from "./loading.js";
import { dispatch, store } from "./store.js";

const partsOfUrl = () => location.hash.slice(1).split("/").map(decodeURIComponent);
const idInUrl = () => partsOfUrl()[0] || null;

export const addressOfStep = (turnId, path) =>
  `#${[store.peek().conversationId, turnId, ...path.split("/")].map(encodeURIComponent).join("/")}`;

function goToStep() {
  const [, turnId, ...path] = partsOfUrl();
  if (path.length > 0) dispatch({ type: "step_wanted", turnId, path: path.join("/") });
}

export function openConversation(id) {
  dispatch({ type: "conversation_opened", id });
  if (id) ensureSubscribed(id);
  seeConversation();
}

export function followRoute() {
  if (idInUrl()) openConversation(idInUrl());
  goToStep();
  window.addEventListener("popstate", () => {
    if (idInUrl() !== store.peek().conversationId) openConversation(idInUrl());
    goToStep();
  });
  document.addEventListener("visibilitychange", seeConversation);
  effect(() => {
    const id = store.value.conversationId;
    if (id !== idInUrl())
      history.pushState(null, "", id ? `#${encodeURIComponent(id)}` : location.pathname);
  });
}
