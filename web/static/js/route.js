// The route: the conversation's id in the URL's hash, so that a reload shows the same conversation.

import { effect } from "@preact/signals";
import { ensureSubscribed } from "./connection.js";
import { seeConversation } from "./loading.js";
import { dispatch, store } from "./store.js";

const idInUrl = () => decodeURIComponent(location.hash.slice(1)) || null;

export function openConversation(id) {
  dispatch({ type: "conversation_opened", id });
  if (id) ensureSubscribed(id);
  seeConversation();
}

export function followRoute() {
  if (idInUrl()) openConversation(idInUrl());
  window.addEventListener("popstate", () => {
    if (idInUrl() !== store.peek().conversationId) openConversation(idInUrl());
  });
  document.addEventListener("visibilitychange", seeConversation);
  effect(() => {
    const id = store.value.conversationId;
    if (id !== idInUrl())
      history.pushState(null, "", id ? `#${encodeURIComponent(id)}` : location.pathname);
  });
}
