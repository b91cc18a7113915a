// Loading what the page shows beside the conversation, each into the store.

import {
  getConversations,
  getGraph,
  getHealth,
  getLessons,
  getProject,
  getProjects,
  getRecords,
  getResult,
  getText,
  getTool,
  getTools,
  getVersion,
  getVersions,
  patchConversation,
} from "./api.js";
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

export const loadHealth = () => load(getHealth, (health) => ({ type: "health_loaded", health }));
export const loadTools = () =>
  load(
    () => getTools(),
    (tools) => ({ type: "tools_loaded", tools }),
  );
export const loadLessons = () =>
  load(getLessons, (lessons) => ({ type: "lessons_loaded", lessons }));
const loadingEarlier = new Set();

// The turns before those that are here.
export async function loadEarlier(conversationId) {
  const { earlier } = store.peek().threads[conversationId];
  if (loadingEarlier.has(conversationId)) return;
  loadingEarlier.add(conversationId);
  await load(
    () => getRecords(conversationId, earlier + 1),
    (records) => ({ type: "earlier_received", conversationId, records }),
  );
  loadingEarlier.delete(conversationId);
}

let newestList = 0;

// A list that arrives after a newer one is dropped.
export async function loadConversations() {
  const number = ++newestList;
  await load(
    () => getConversations(),
    (conversations) => ({
      type: "conversations_loaded",
      conversations: number === newestList ? conversations : store.peek().conversations,
    }),
  );
  seeConversation();
}

// Tells the server that a person sees the newest answer of the open conversation.
export function seeConversation() {
  const { conversations, conversationId } = store.peek();
  const open = conversations.find(({ id }) => id === conversationId);
  if (open?.unread && !open.running && !document.hidden)
    patchConversation(open.id, { seen: true }).catch((error) =>
      console.info("not told:", error.message),
    );
}

// Whether the server accepted the change; an error is shown at the top of the page.
export async function changeConversation(id, change) {
  try {
    await patchConversation(id, change);
    return true;
  } catch (error) {
    const remedy = error.remedy ?? t("server-check");
    const message = t("conversation-unchanged", { error: error.message });
    dispatch({ type: "noticed", message, remedy });
    return false;
  }
}

const PAUSE = 150; // milliseconds after the last key
let searching = null;

export function searchConversations(text) {
  dispatch({ type: "conversations_searched", text });
  clearTimeout(searching);
  if (text.trim()) searching = setTimeout(() => findConversations(text), PAUSE);
}

const findConversations = (text) =>
  load(
    () => getConversations(text),
    (conversations) => ({ type: "conversations_found", text, conversations }),
  );

let searchingTools = null;

// The list knows names and descriptions itself; the server's search knows requests and meaning, too.
export function searchTools(text) {
  dispatch({ type: "search_changed", text });
  clearTimeout(searchingTools);
  if (text.trim()) searchingTools = setTimeout(() => findTools(text), PAUSE);
}

const findTools = (text) =>
  load(
    () => getTools(text),
    (tools) => ({ type: "tools_found", text, tools }),
  );

async function loadInPlace(request, received, refused) {
  try {
    dispatch(received(await request()));
  } catch (error) {
    dispatch({ ...refused, error: { message: error.message, remedy: error.remedy ?? "" } });
  }
}

export const loadGraph = () =>
  loadInPlace(getGraph, (svg) => ({ type: "graph_loaded", svg }), { type: "graph_not_loaded" });
export const loadTool = (name) =>
  loadInPlace(
    () => getTool(name),
    (tool) => ({ type: "tool_loaded", name, tool }),
    { type: "tool_not_loaded", name },
  );
export const loadVersions = (name) =>
  loadInPlace(
    () => getVersions(name),
    (versions) => ({ type: "versions_loaded", name, versions }),
    { type: "versions_not_loaded", name },
  );
export const loadVersion = (name, number) =>
  loadInPlace(
    () => getVersion(name, number),
    (version) => ({ type: "version_loaded", name, number, version }),
    { type: "version_not_loaded", name, number },
  );

export const loadProjects = () =>
  load(getProjects, (projects) => ({ type: "projects_loaded", projects }));
export const loadProject = (id) =>
  loadInPlace(
    () => getProject(id),
    (project) => ({ type: "project_loaded", project }),
    { type: "project_not_loaded", id },
  );
export const loadText = (sha256, address) =>
  loadInPlace(
    () => getText(address),
    (text) => ({ type: "text_loaded", sha256, text }),
    { type: "text_not_loaded", sha256 },
  );

export const loadResult = (conversationId, { sha256 }) =>
  loadInPlace(
    () => getResult(addressOfResult(conversationId, { sha256 })),
    (value) => ({ type: "result_loaded", sha256, value }),
    { type: "result_not_loaded", sha256 },
  );

export const loadAll = () =>
  Promise.all([loadHealth(), loadTools(), loadLessons(), loadConversations(), loadProjects()]);
