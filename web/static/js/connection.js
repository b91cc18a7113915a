// The socket: subscribes to conversations from the last number seen, and passes on what a person asks.

import { io } from "socket.io-client";
import { getFile, postFile } from "./api.js";
import { endedBetween } from "./attention.js";
import { filesAgain } from "./files.js";
import {
  loadAll,
  loadConversations,
  loadHealth,
  loadLessons,
  loadProjects,
  loadTool,
  loadTools,
} from "./loading.js";
import { tellEnds } from "./notifying.js";
import { needsHistory } from "./reducer.js";
import { dispatch, store } from "./store.js";
import { emptyThread } from "./thread.js";

const ACK_TIMEOUT = 15_000;
const RETRY = 1_000;

const ENDS = new Set(["turn_finished", "turn_failed", "turn_stopped"]);

const socket = io({
  transports: ["websocket", "polling"],
  tryAllTransports: true,
  autoConnect: false,
  reconnectionDelayMax: 3_000,
});
const subscribed = new Set();
const underway = new Set();

export function connect() {
  socket.on("connect", connected);
  socket.on("disconnect", disconnected);
  socket.on("connect_error", refused);
  socket.on("records", ({ conversation_id: conversationId, records }) =>
    receive(conversationId, records, true),
  );
  socket.on("library", libraryChanged);
  socket.on("conversations", loadConversations);
  socket.on("lessons", loadLessons);
  socket.on("status", (health) => dispatch({ type: "health_loaded", health }));
  socket.on("error", (error) => dispatch({ type: "noticed", ...error }));
  socket.connect();
}

function connected() {
  subscribed.clear();
  underway.clear();
  dispatch({ type: "connection_changed", connection: "online" });
  loadAll();
  subscribe(store.peek().conversationId);
}

function disconnected(reason) {
  dispatch({ type: "connection_changed", connection: "reconnecting" });
  if (reason === "io server disconnect") socket.connect();
}

// A refused handshake is final for Socket.IO; whether it is for us, the REST side decides.
function refused() {
  if (store.peek().connection !== "refused")
    dispatch({ type: "connection_changed", connection: "reconnecting" });
  loadHealth();
  if (!socket.active)
    setTimeout(() => store.peek().connection !== "refused" && socket.connect(), RETRY);
}

export function subscribe(id) {
  if (!id || underway.has(id) || !socket.connected) return;
  underway.add(id);
  const after = store.peek().threads[id]?.lastSeq ?? 0;
  socket
    .timeout(ACK_TIMEOUT)
    .emit("subscribe", { conversation_id: id, after }, (timeout, reply) => {
      underway.delete(id);
      if (timeout) return subscribe(id);
      if (!reply.ok) return unknownConversation(id, reply.error);
      subscribed.add(id);
      receive(id, reply.records, false);
    });
}

export function ensureSubscribed(id) {
  if (!subscribed.has(id)) subscribe(id);
}

function unknownConversation(id, error) {
  if (store.peek().conversationId !== id) return dispatch({ type: "noticed", ...error });
  dispatch({ type: "conversation_missed" });
}

function receive(conversationId, records, live) {
  const before = store.peek().threads[conversationId] ?? emptyThread;
  dispatch({ type: "records_received", conversationId, records, live, now: Date.now() });
  tellEnds(conversationId, endedBetween(before, store.peek().threads[conversationId]));
  if (live)
    follow(
      conversationId,
      records.map(({ event }) => event),
    );
  if (!needsHistory(store.peek(), conversationId)) return;
  if (live) subscribe(conversationId);
  else
    setTimeout(
      () => needsHistory(store.peek(), conversationId) && subscribe(conversationId),
      RETRY,
    );
}

const used = new Set(); // Tools that turns have run since one ended.

// A turn that ends has changed other data: how often its tools were used, its project, or whether the model's server answers.
function follow(conversationId, events) {
  for (const { type, tool } of events) if (type === "execution_finished") used.add(tool);
  if (!events.some(({ type }) => ENDS.has(type))) return;
  if (events.some(({ kind }) => kind === "model") || store.peek().health?.model?.trouble)
    loadHealth();
  used.forEach(loadTool);
  used.clear();
  if (isProject(conversationId)) loadProjects();
}

const isProject = (id) => Boolean(store.peek().projects?.some((p) => p.id === id));

function libraryChanged(change) {
  dispatch({ type: "library_changed", ...change });
  loadTools();
  loadHealth();
  if (store.peek().openTool === change.name) loadTool(change.name);
}

// One at a time, so that the second request of a new conversation knows the id that the first one got.
let asking = Promise.resolve();

export function ask(text, files = [], answers = []) {
  const key = crypto.randomUUID?.() ?? String(performance.now());
  dispatch({ type: "asked", key, text, files, answers });
  asking = asking.then(() => send(key, text, files, answers));
}

async function send(key, text, files, answers) {
  const { conversationId = null } = store.peek().pending.find((p) => p.key === key) ?? {};
  try {
    const uploads = await upload(key, files);
    if (!uploads) return;
    const reply = await socket
      .timeout(ACK_TIMEOUT)
      .emitWithAck("ask", { text, conversation_id: conversationId, files: uploads, answers });
    if (!reply.ok) return dispatch({ type: "ask_refused", key, error: reply.error });
    dispatch({
      type: "ask_accepted",
      key,
      conversationId: reply.conversation_id,
      turnId: reply.turn_id,
    });
    ensureSubscribed(reply.conversation_id);
    if (!conversationId) loadConversations();
  } catch {
    dispatch({
      type: "ask_refused",
      key,
      error: {
        message: "The server did not answer.",
        remedy: "Check that it runs, then send again.",
      },
    });
  }
}

async function upload(key, files) {
  const ids = [];
  for (const { name, content, address } of files) {
    try {
      ids.push(await postFile(name, content ?? (await getFile(address))));
    } catch (error) {
      // A file that was changed or removed since it was picked can't be read any more, and fails like a broken connection.
      const remedy =
        error.remedy ??
        "Check that the server runs and that the file is still there, then send again.";
      dispatch({
        type: "ask_refused",
        key,
        error: { message: `${name} could not be sent: ${error.message}`, remedy },
      });
      return null;
    }
  }
  return ids;
}

// Starts the turn that makes one tool of another turn's plan; returns whether it started.
export async function keep(turnId) {
  try {
    const reply = await socket.timeout(ACK_TIMEOUT).emitWithAck("keep", { turn_id: turnId });
    if (reply.ok) ensureSubscribed(reply.conversation_id);
    return reply.ok;
  } catch {
    dispatch({
      type: "noticed",
      message: "The server did not answer.",
      remedy: "Check that it runs, then try again.",
    });
    return false;
  }
}

// Starts the turn that makes a tool faster; the id of its conversation, null if the server refuses it.
export async function refactor(name) {
  const reply = await work("refactor", { name });
  if (reply) loadConversations();
  return reply?.conversation_id ?? null;
}

// Sends the request of a turn once more, with its files; a call by hand is made again from its tool's form.
export const askAgain = (turn, conversationId) =>
  turn.runs
    ? dispatch({ type: "tool_opened", name: turn.runs })
    : ask(turn.request, filesAgain(turn, conversationId));

// Calls a tool by hand, in the current conversation; null, with a notice, if it does not begin.
export async function run(name, given, files) {
  const ids = [];
  for (const file of files) {
    try {
      ids.push(await postFile(file.name, file));
    } catch (error) {
      const remedy = error.remedy || "Check that the server runs and that the file is still there.";
      dispatch({
        type: "noticed",
        message: `${file.name} could not be sent: ${error.message}`,
        remedy,
      });
      return null;
    }
  }
  const current = store.peek().conversationId;
  const conversation = isProject(current) ? null : current;
  const call = { name, arguments: given, conversation_id: conversation, files: ids };
  const reply = await work("run", call);
  if (reply && !conversation) {
    dispatch({ type: "conversation_opened", id: reply.conversation_id });
    dispatch({ type: "view_selected", view: "library" });
    loadConversations();
  }
  return reply;
}

export function stop(turnId) {
  dispatch({ type: "stop_requested", turnId });
  socket.emit("stop", { turn_id: turnId });
}

export function retry(pending) {
  dispatch({ type: "pending_dismissed", key: pending.key });
  ask(pending.text, pending.files, pending.answers);
}

// Starts an action on a project; null, with a notice, if the server refuses it.
async function work(event, payload) {
  try {
    const reply = await socket.timeout(ACK_TIMEOUT).emitWithAck(event, payload);
    if (!reply.ok) return null; // the event `error` says why
    if (reply.conversation_id) ensureSubscribed(reply.conversation_id);
    return reply;
  } catch {
    dispatch({
      type: "noticed",
      message: "The server did not answer.",
      remedy: "Check that it runs, then try again.",
    });
    return null;
  }
}

export async function beginProject(options) {
  const reply = await work("build", options);
  if (!reply) return false;
  const { name, goal } = options;
  dispatch({
    type: "project_begun",
    project: {
      id: reply.conversation_id,
      name,
      goal,
      status: "building",
      created_at: new Date().toISOString(),
    },
  });
  return true;
}

export const buildOn = async (id, options) =>
  Boolean(await work("build", { project_id: id, ...options }));
export const act = async (id, action) => Boolean(await work("act", { project_id: id, action }));
export const restoreBackup = (id, backup) => work("restore", { project_id: id, backup });
export const say = (turnId, word) => work("say", { turn_id: turnId, word });
