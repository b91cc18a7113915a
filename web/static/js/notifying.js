// Telling of turns that end while the tab is hidden: its title, its icon, and a notification if the
// person has allowed it.

import { signal } from "@preact/signals";
import { noticeOf, titleOf } from "./attention.js";

const NAME = document.title;
const ICONS = ["/static/icon.svg", "/static/icon-unseen.svg"];
let unseen = [];

// Whether the browser can be asked for permission; without https there are no notifications.
export const mayAsk = signal(globalThis.Notification?.permission === "default");

// granted, denied, default, or missing without https.
export const noticesState = () => globalThis.Notification?.permission ?? "missing";

export async function allowNotices() {
  mayAsk.value = (await Notification.requestPermission()) === "default";
}

export function tellEnds(conversationId, turns) {
  if (!document.hidden || turns.length === 0) return;
  unseen = [...unseen, ...turns];
  mark();
  for (const turn of turns) notify(conversationId, turn);
}

function notify(conversationId, turn) {
  const notice = noticeOf(turn);
  if (!notice || globalThis.Notification?.permission !== "granted") return;
  const { title, body } = notice;
  const shown = new Notification(title, { body, tag: turn.id, icon: ICONS[0] });
  shown.onclick = () => {
    window.focus();
    location.hash = encodeURIComponent(conversationId);
    shown.close();
  };
}

function mark() {
  document.title = titleOf(unseen, NAME);
  document.querySelector("link[rel=icon]").href = ICONS[Number(unseen.length > 0)];
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden || unseen.length === 0) return;
  unseen = [];
  mark();
});
