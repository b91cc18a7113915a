// Keeping what a reload must not lose: drafts and shown branches in the tab's storage, and requests with their files in
// a database.

import { effect } from "@preact/signals";
import { sendWaiting } from "./connection.js";
import { packed, unpacked } from "./drafts.js";
import { dispatch, store } from "./store.js";

const KEY = "drafts";
const BRANCHES = "branches";

export function keepDrafts() {
  dispatch({ type: "drafts_restored", drafts: unpacked(read(KEY)) });
  dispatch({ type: "branches_restored", branches: JSON.parse(read(BRANCHES) ?? "{}") });
  addEventListener("pagehide", write);
  document.addEventListener("visibilitychange", write);
}

function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null; // The browser stores nothing.
  }
}

function write() {
  try {
    sessionStorage.setItem(KEY, packed(store.peek()));
    sessionStorage.setItem(BRANCHES, JSON.stringify(store.peek().branches));
  } catch {
    // The browser stores nothing: drafts and branches last until the page is closed.
  }
}

const TAB = "tab";
const LONGEST_WAIT = 24 * 3600 * 1000; // milliseconds that a request of a closed tab is kept

// Requests that no turn has come of yet: restored, sent, and kept up to date from then on. The
// database has those of all tabs.
export async function keepRequests() {
  const tab = tabName();
  const database = await openRequests().catch(() => null);
  if (!database) return; // The browser stores nothing: requests wait until the page is closed.
  const rows = await allRows(database);
  const old = rows.filter(({ at }) => at < Date.now() - LONGEST_WAIT);
  const mine = rows.filter((row) => row.tab === tab && !old.includes(row));
  if (mine.length > 0) {
    const pending = mine.toSorted((a, b) => a.at - b.at).map(({ request }) => request);
    dispatch({ type: "asks_restored", pending });
    sendWaiting();
  }
  let kept = new Map([...mine, ...old].map(({ key, request }) => [key, request]));
  const asked = new Map(mine.map(({ key, at }) => [key, at]));
  effect(() => {
    const now = new Map(store.value.pending.filter((p) => !p.turnId).map((p) => [p.key, p]));
    const gone = [...kept.keys()].filter((key) => !now.has(key));
    const changed = [...now.values()].filter((request) => kept.get(request.key) !== request);
    kept = now;
    if (gone.length + changed.length === 0) return;
    const change = database.transaction(REQUESTS, "readwrite");
    for (const key of gone) change.objectStore(REQUESTS).delete(key);
    for (const request of changed) {
      const { key } = request;
      asked.set(key, asked.get(key) ?? Date.now() + asked.size / 1000);
      change.objectStore(REQUESTS).put({ key, tab, at: asked.get(key), request });
    }
    change.onerror = (event) => event.preventDefault(); // a full disk: it is not kept
    change.commit();
  });
}

const REQUESTS = "requests";

const answerOf = (asked) =>
  new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });

async function openRequests() {
  const opening = indexedDB.open(REQUESTS, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(REQUESTS, { keyPath: "key" });
  return answerOf(opening);
}

const allRows = (database) =>
  answerOf(database.transaction(REQUESTS).objectStore(REQUESTS).getAll()).catch(() => []);

// A name that the tab keeps over a reload.
function tabName() {
  try {
    const name = sessionStorage.getItem(TAB) ?? String(Math.random());
    sessionStorage.setItem(TAB, name);
    return name;
  } catch {
    return "";
  }
}
