// The socket: subscribes to conversations from the last number seen, and passes on what a person asks.

import { io } from "socket.io-client";
import { postFile, postFileAgain, postFork, TURNS } from "./api.js";
import { endedBetween } from "./attention.js";
import { inWords } from "./cause.js";
import { filesAgain } from "./files.js";
import {
  loadAll,
  loadConversations,
  loadNewestConversations,
  loadHealth,
  loadLessons,
  loadProjects,
  loadTool,
  loadTools,
} from "./loading.js";
import { tellEnds } from "./notifying.js";
import { NEW_PROJECT } from "./projects.js";
import { choiceOf, needsHistory, placeOf } from "./reducer.js";
import { dispatch, openTool, store } from "./store.js";
import { t } from "./texts.js";
import { emptyThread } from "./thread.js";

const ACK_TIMEOUT = 15_000;
const RETRY = 1_000;
const PAUSE = 150; // milliseconds from one drawing to the next, at least
const LONGEST_PAUSE = 500; // a page in the background measures too much
const MOST_SUBSCRIBED = 100; // the server sends the records of the 200 that were joined last
const SHARE = 12; // at most one part of so many is spent on scripts, styles and layout

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
  socket.on("records", arrived);
  socket.on("library", libraryChanged);
  socket.on("conversations", ({ newest }) => {
    if (newest) loadNewestConversations();
    else loadConversations();
    loadProjects();
  });
  socket.on("lessons", loadLessons);
  socket.on("tested", ({ error, ...news }) =>
    dispatch({ type: "test_told", ...news, ...(error && { error: inWords(error) }) }),
  );
  socket.on("status", (health) => dispatch({ type: "health_loaded", health }));
  socket.on("error", (error) => notice(inWords(error)));
  socket.connect();
}

function connected() {
  subscribed.clear();
  underway.clear();
  dispatch({ type: "connection_changed", connection: "online" });
  loadAll();
  subscribe(store.peek().conversationId);
  sendWaiting();
}

function disconnected(reason) {
  passOn();
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

function subscribe(id) {
  if (!id || id === NEW_PROJECT || underway.has(id) || !socket.connected) return;
  underway.add(id);
  const after = store.peek().threads[id]?.lastSeq ?? 0;
  socket
    .timeout(ACK_TIMEOUT)
    .emit("subscribe", { conversation_id: id, after, turns: TURNS }, (timeout, reply) => {
      underway.delete(id);
      if (timeout) return subscribe(id);
      if (!reply.ok)
        return store.peek().conversationId === id
          ? dispatch({ type: "conversation_missed" })
          : notice(inWords(reply.error));
      passOn();
      subscribed.add(id);
      if (subscribed.size > MOST_SUBSCRIBED) subscribed.delete(subscribed.values().next().value);
      const { model, temporary } = reply;
      dispatch({ type: "choice_made", id, choice: { model, temporary } });
      receive(id, reply.records, false, reply.after);
    });
}

export function ensureSubscribed(id) {
  if (!subscribed.has(id)) subscribe(id);
}

// Live records, drawn together: a fast model sends hundreds a second.
let waiting = [];
let timer = null;
let passedOn = 0;
let pause = PAUSE;

function arrived({ conversation_id: conversationId, records }) {
  const last = waiting.at(-1);
  if (last?.conversationId === conversationId) last.records.push(...records);
  else waiting.push({ conversationId, records: [...records] });
  timer ??= setTimeout(passOn, Math.max(0, passedOn + pause - performance.now()));
}

function passOn() {
  clearTimeout(timer);
  const now = waiting;
  [waiting, timer, passedOn] = [[], null, performance.now()];
  for (const { conversationId, records } of now) receive(conversationId, records, true);
  setTimeout(() => {
    pause = Math.min(LONGEST_PAUSE, Math.max(PAUSE, SHARE * (performance.now() - passedOn)));
  });
}

function receive(conversationId, records, live, after) {
  const before = store.peek().threads[conversationId] ?? emptyThread;
  const now = Date.now();
  dispatch({ type: "records_received", conversationId, records, after, live, now });
  tellEnds(conversationId, endedBetween(before, store.peek().threads[conversationId]));
  if (live) follow(conversationId, records);
  const fetchGap = () => needsHistory(store.peek(), conversationId) && subscribe(conversationId);
  if (live) fetchGap();
  else setTimeout(fetchGap, RETRY);
}

const used = new Set(); // Tools that turns have run since one ended.

// A turn that ends has changed other data: how often its tools were used, its project, or whether
// the model's server answers.
function follow(conversationId, records) {
  const events = records.map(({ event }) => event);
  for (const { type, tool } of events) if (type === "execution_finished") used.add(tool);
  if (!events.some(({ type }) => ENDS.has(type))) return;
  const troubled = events.some(({ kind }) => kind === "model" || kind === "sandbox");
  if (troubled || store.peek().health?.model?.trouble) loadHealth();
  used.forEach(loadTool);
  used.clear();
  if (isProject(conversationId)) loadProjects();
}

const isProject = (id) =>
  id === NEW_PROJECT || Boolean(store.peek().projects?.some((p) => p.id === id));

function libraryChanged(change) {
  dispatch({ type: "library_changed", ...change });
  loadTools();
  loadHealth();
  if (store.peek().openTool === change.name) loadTool(change.name);
}

// One at a time, so that the second request of a new conversation knows the id that the first one got.
let asking = Promise.resolve();

const enqueue = (key) => {
  asking = asking.then(() => send(key));
};

export function ask(text, files = [], answers = {}, again = "") {
  const key = newKey();
  dispatch({ type: "asked", key, text, files, answers, ...(again && { again }) });
  enqueue(key);
}

// Nobody else's, and of no other request: the server knows a request by it that is sent twice.
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

// Sends what has no turn yet: requests from before the connection was lost, meanwhile, or from before a reload.
export function sendWaiting() {
  for (const { key, error, turnId } of store.peek().pending) if (!error && !turnId) enqueue(key);
}

const pendingBy = (key) => store.peek().pending.find((p) => p.key === key);

// Without a connection the request waits for `sendWaiting`.
async function send(key) {
  const { text, files, answers, again, error, turnId, model, temporary } = pendingBy(key) ?? {};
  if (text === undefined || error || turnId || !socket.connected) return;
  const uploads = await upload(key, files);
  if (!uploads || !pendingBy(key) || !socket.connected) return;
  const { conversationId, after = placeOf(store.peek(), conversationId) } = pendingBy(key);
  dispatch({ type: "ask_sent", key });
  const request = {
    text,
    answers,
    files: uploads,
    request_id: key,
    ...(again && { again }),
    after,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(!conversationId && { model, temporary }),
  };
  const reply = await emit("ask", { ...request, conversation_id: conversationId });
  const { ok, error: refused, conversation_id: id, turn_id: turn } = reply;
  if (!ok) return socket.connected && dispatch({ type: "ask_refused", key, error: refused });
  dispatch({ type: "ask_accepted", key, conversationId: id, turnId: turn });
  ensureSubscribed(id);
  if (!conversationId) loadConversations();
}

async function upload(key, files) {
  const progress = (name, share) => {
    dispatch({ type: "upload_progressed", upload: { key, name, share } });
    return Boolean(pendingBy(key));
  };
  const { ids, error } = await sendFiles(files, progress);
  if (error && socket.connected && pendingBy(key)) dispatch({ type: "ask_refused", key, error });
  return ids;
}

// {ids} by which a request names its files, or {error}. A file that was changed or removed since it was picked can't be
// read any more, and fails like a broken connection.
async function sendFiles(files, progress = () => true) {
  const ids = [];
  for (const { name, content, address } of files)
    try {
      const id = content
        ? postFile(name, content, (share) => progress(name, share))
        : postFileAgain(address); // the server has it
      ids.push(await id);
    } catch ({ message: problem, remedy = t("pending-file-remedy"), details }) {
      return { error: { message: t("pending-file", { name, problem }), remedy, details } };
    }
  return { ids };
}

// Starts the turn that makes one tool of another turn's plan; whether it started.
export const keep = async (turnId) => Boolean(await work("keep", { turn_id: turnId }));

// Starts the turn that corrects a wrong answer; null, with a notice, if the server refuses it.
export const wrong = (turnId, complaint, value) =>
  work("wrong", { turn_id: turnId, complaint, value });

// Starts the turn that makes a tool faster; the id of its conversation, null if the server refuses it.
export async function refactor(name) {
  const reply = await work("refactor", { name });
  if (reply) loadConversations();
  return reply?.conversation_id ?? null;
}

// Begins a conversation with copies of the turns up to one, and opens it.
export async function fork(conversationId, turnId) {
  try {
    const { id } = await postFork(conversationId, turnId);
    dispatch({ type: "conversation_opened", id });
    ensureSubscribed(id);
    loadConversations();
  } catch (error) {
    dispatch({ ...error, type: "noticed" });
  }
}

// Sends the request of a turn once more, with its files and answers; a call by hand is made again from its tool's form.
export const askAgain = (turn, conversationId) =>
  turn.runs
    ? openTool(turn.runs)
    : ask(turn.request, filesAgain(turn, conversationId), {}, turn.id);

// Calls a tool by hand, in the current conversation; null, with a notice, if it does not begin.
export async function run(name, given, files) {
  const { ids, error } = await sendFiles(files.map((content) => ({ name: content.name, content })));
  if (error) return notice(error) ?? null;
  const current = store.peek().conversationId;
  const conversation = isProject(current) ? null : current;
  const after = conversation ? placeOf(store.peek()) : undefined;
  const temporary = !conversation && choiceOf(store.peek()).temporary;
  const call = { name, arguments: given, conversation_id: conversation, after, files: ids };
  const reply = await work("run", { ...call, temporary });
  if (reply && !conversation) {
    dispatch({ type: "conversation_opened", id: reply.conversation_id, view: "library" });
    loadConversations();
  }
  return reply;
}

// Tests the model's server as it would be with these changes; news come as `test_told`.
export function testModel(changes) {
  const id = newKey();
  dispatch({ type: "test_begun", id });
  work("test", { id, changes }).then((begun) => begun || dispatch({ type: "test_stopped" }));
}

export function stopTest() {
  if (store.peek().settings?.test?.end === null) socket.emit("stop_test", {});
  dispatch({ type: "test_stopped" });
}

export function stop(turnId) {
  dispatch({ type: "stop_requested", turnId });
  work("stop", { turn_id: turnId });
}

export function retry({ key }) {
  dispatch({ type: "ask_retried", key });
  enqueue(key);
}

const notice = (error) => dispatch({ type: "noticed", ...error });

// The server's reply; a refusal if there is none.
const emit = (event, payload) =>
  socket
    .timeout(ACK_TIMEOUT)
    .emitWithAck(event, payload)
    .then((reply) => (reply.ok ? reply : { ...reply, error: inWords(reply.error) }))
    .catch(() => {
      const error = { message: t("pending-silent"), remedy: t("pending-silent-remedy") };
      return { ok: false, error };
    });

// Asks the server for some work; its reply, or null, with a notice, if it refuses.
async function work(event, payload) {
  const reply = await emit(event, payload);
  if (!reply.ok) {
    notice(reply.error);
    return null;
  }
  if (reply.conversation_id) ensureSubscribed(reply.conversation_id);
  return reply;
}

export async function beginProject(options) {
  const reply = await work("build", options);
  if (!reply) return false;
  const { name, goal } = options;
  const [id, now] = [reply.conversation_id, new Date().toISOString()];
  const project = { id, name, goal, status: "building", created_at: now };
  dispatch({ type: "project_begun", project });
  return true;
}

export const buildOn = async (id, options) =>
  Boolean(await work("build", { project_id: id, ...options }));
export const act = async (id, action) => Boolean(await work("act", { project_id: id, action }));
export const restoreBackup = (id, backup) => work("restore", { project_id: id, backup });
export const say = (turnId, word) => work("say", { turn_id: turnId, word });
