// Loading what the page shows beside the conversation, each into the store.

import * as api from "./api.js";
import { addressOfResult } from "./results.js";
import { dispatch, store } from "./store.js";
import { t } from "./texts.js";

// Shows an expired token as such; the connection's state shows other trouble.
async function load(request, received) {
  try {
    dispatch(received(await request()));
  } catch (error) {
    if (error.status === 401 || error.status === 403)
      dispatch({ type: "connection_changed", connection: "refused" });
    else console.info("not loaded:", error.message);
  }
}

const loader = (type, name, request) => () => load(request, (value) => ({ type, [name]: value }));

export const loadHealth = loader("health_loaded", "health", api.getHealth);
export const loadTools = loader("tools_loaded", "tools", api.getTools);
export const loadLessons = loader("lessons_loaded", "lessons", api.getLessons);
export const loadProjects = loader("projects_loaded", "projects", api.getProjects);

const loadingEarlier = new Set();

// The turns before those that are here.
export async function loadEarlier(conversationId) {
  const { earlier } = store.peek().threads[conversationId];
  if (loadingEarlier.has(conversationId)) return;
  loadingEarlier.add(conversationId);
  await load(
    () => api.getRecords(conversationId, earlier + 1),
    (records) => ({ type: "earlier_received", conversationId, records }),
  );
  loadingEarlier.delete(conversationId);
}

let newestList = 0;
let loadingAll = false;

// The newest `limit` conversations, or all. A list that arrives after a newer one is dropped, so one that is asked for
// while all are on their way has all, too.
async function listConversations(limit) {
  const number = ++newestList;
  loadingAll ||= !limit;
  const most = loadingAll ? undefined : limit;
  await load(
    () => api.getConversations("", most),
    (conversations) =>
      number === newestList
        ? { type: "conversations_loaded", conversations, limit: most }
        : { type: "conversations_loaded", conversations: store.peek().conversations },
  );
  if (number === newestList) loadingAll = false;
  seeConversation();
}

const NEWEST = 50; // conversations: more than a sidebar shows
export const loadNewestConversations = () => listConversations(NEWEST);

// The newest come first, where they are not here: those of years take a while.
export async function loadConversations() {
  const some = store.peek().conversations.length > 0;
  if (!some) await loadNewestConversations();
  if (some || store.peek().conversations.length === NEWEST) await listConversations();
}

// Tells the server that a person sees the newest answer of the open conversation.
export function seeConversation() {
  const { conversations, conversationId } = store.peek();
  const open = conversations.find(({ id }) => id === conversationId);
  if (open?.unread && !open.running && !document.hidden)
    api
      .patchConversation(open.id, { seen: true })
      .catch((error) => console.info("not told:", error.message));
}

// Whether the server accepted the change; an error is shown at the top of the page.
export async function changeConversation(id, change) {
  try {
    await api.patchConversation(id, change);
    return true;
  } catch (error) {
    const message = t("conversation-unchanged", { error: error.message });
    dispatch({ type: "noticed", ...error, message });
    return false;
  }
}

const PAUSE = 150; // milliseconds after the last key

// Searches for the newest text, once nothing was typed for a while.
function whenTyped(request, type, name) {
  let timer = null;
  return (text) => {
    clearTimeout(timer);
    const find = () =>
      load(
        () => request(text),
        (value) => ({ type, text, [name]: value }),
      );
    if (text.trim()) timer = setTimeout(find, PAUSE);
  };
}

const findConversations = whenTyped(api.getConversations, "conversations_found", "conversations");
const findTools = whenTyped(api.getTools, "tools_found", "tools");

export function searchConversations(text) {
  dispatch({ type: "conversations_searched", text });
  findConversations(text);
}

// The list knows names and descriptions itself; the server's search knows requests and meaning, too.
export function searchTools(text) {
  dispatch({ type: "search_changed", text });
  findTools(text);
}

// Content that is shown in its own place, where an error is shown, too; `which` identifies it.
async function loadInPlace(noun, request, which, name = noun) {
  try {
    dispatch({ type: `${noun}_loaded`, ...which, [name]: await request });
  } catch (error) {
    dispatch({ type: `${noun}_not_loaded`, ...which, error: { ...error } });
  }
}

export const loadGraph = () => loadInPlace("graph", api.getGraph(), {}, "svg");
export const loadTool = (name) => loadInPlace("tool", api.getTool(name), { name });
export const loadVersions = (name) => loadInPlace("versions", api.getVersions(name), { name });
export const loadVersion = (name, number) =>
  loadInPlace("version", api.getVersion(name, number), { name, number });
export const loadProject = (id) => loadInPlace("project", api.getProject(id), { id });
export const loadText = (sha256, address) => loadInPlace("text", api.getText(address), { sha256 });
export function loadResult(conversationId, { sha256 }) {
  const address = addressOfResult(conversationId, { sha256 });
  return loadInPlace("result", api.getResult(address), { sha256 }, "value");
}

export const loadAll = () =>
  Promise.all([loadHealth(), loadTools(), loadLessons(), loadConversations(), loadProjects()]);
