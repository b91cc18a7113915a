// The server's REST routes.

import { inWords } from "./cause.js";
import { conversationPath } from "./conversations.js";
import { readEvents } from "./exchange.js";
import { projectPath } from "./projects.js";
import { parseExactly } from "./results.js";
import { t } from "./texts.js";

// `words`: message and remedy in the page's words, and what `inWords` adds to them.
export class ApiError extends Error {
  constructor(status, words) {
    super();
    Object.assign(this, words, { status });
  }
}

// The reply to a request, with `body` as JSON, if there is one.
export async function call(method, path, body, options = {}) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  const json = body && { headers, body: JSON.stringify(body) };
  const response = await send(path, { method, ...json, ...options });
  return response.json().catch(() => ({}));
}
const get = (path, query) => call("GET", query ? `${path}?${new URLSearchParams(query)}` : path);
const post = (path, body, options) => call("POST", path, body, options);

async function send(path, options = {}) {
  const response = await fetch(path, {
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    cache: "no-store",
    ...options,
  }).catch((error) => {
    throw error.name === "AbortError" ? error : new ApiError(0, silent());
  });
  if (response.ok) return response;
  throw errorOf(response.status, await response.json().catch(() => ({})));
}

const silent = () => ({ message: t("pending-silent"), remedy: t("pending-silent-remedy") });

// Of errors that only have a status.
const CAUSES = { 400: "", 404: "missing", 409: "conflict", 411: "", 413: "too_large", 429: "full" };

function errorOf(status, body) {
  const message = t("server-answered", { status: `${status}` });
  const cause = CAUSES[status];
  const known = body?.error && { kind: cause === undefined ? "internal" : "request", cause };
  return new ApiError(status, inWords({ message, ...known, ...body?.error }));
}

export const getHealth = () => get("/api/v1/health");
const searched = (text) => text && { q: text };
// With a text, the tools that the search finds for it, the best first.
export const getTools = async (text = "") => (await get("/api/v1/tools", searched(text))).tools;
const toolPath = (name) => `/api/v1/tools/${encodeURIComponent(name)}`;

export const getTool = (name) => get(toolPath(name));
// The earlier answers that the newest version changes.
export const getRecomputed = (name) => get(`${toolPath(name)}/recomputed`);
export const getVersions = async (name) => (await get(`${toolPath(name)}/versions`)).versions;
export const getVersion = (name, number) => get(`${toolPath(name)}/versions/${number}`);
// Both return the changed tool; `change` is retire or restore.
export const postRollback = (name, to) => post(`${toolPath(name)}/rollback`, { to });
export const postStanding = (name, change) => post(`${toolPath(name)}/${change}`);
// The verdict on a tool as a person edits it: its code and tests, and rows that are further tests. A signal
// cancels it; the server drops an older one.
export const postVerdict = (name, edit, signal) =>
  post(`${toolPath(name)}/verdict`, edit, { signal });
// Both give the result: a version, a proposal, or the turn that makes one.
export const postEdit = (name, edit) => post(`${toolPath(name)}/edit`, edit);
export const postTeach = (name, rows) => post(`${toolPath(name)}/teach`, { rows });
// The new tools and versions that wait for the person.
export const getProposals = async () => (await get("/api/v1/proposals")).proposals;
const proposalPath = (name) => `/api/v1/proposals/${encodeURIComponent(name)}`;
export const getProposal = (name) => get(proposalPath(name));
export const getBehaviour = (name) => get(`${proposalPath(name)}/behaviour`);
// `decision` is accept, refuse or reopen.
export const postDecision = (name, decision) => post(`${proposalPath(name)}/${decision}`, {});
// Removes a request from those that find the tool; returns the tool's page.
export const postForget = (name, request) => post(`${toolPath(name)}/forget`, { request });
export const toolExport = (name, form) => `${toolPath(name)}/export?as=${form}`;
export const libraryBundle = "/api/v1/bundles";
// Both send a bundle, and report each event of the answer as it comes: its kind and its data.
export const checkBundle = (file, installs, tell) =>
  sendBundle(`${libraryBundle}/check?installs=${installs}`, file, tell);
export const importBundle = (file, query, tell) =>
  sendBundle(`${libraryBundle}?${new URLSearchParams({ ...query, file: file.name })}`, file, tell);
// Tells each finding of a look into the subscriptions as it comes.
export const checkUpdates = (installs, tell) =>
  sendBundle(`/api/v1/subscriptions/check?installs=${installs}`, null, tell);
async function sendBundle(path, body, tell) {
  const response = await send(path, { method: "POST", body });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = readEvents(left + value);
    left = rest;
    for (const [kind, data] of events) tell(kind, data);
  }
}
// Sends a file ahead of its request; returns the id that the request names it by. `progress` gets the share
// that is sent, again and again, and returns whether to continue. `fetch` does not report progress.
export const postFile = (name, body, progress = () => true) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1/files?name=${encodeURIComponent(name)}`);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => progress(loaded / total) || request.abort();
    request.onload = () =>
      request.status === 200
        ? resolve(request.response.id)
        : reject(errorOf(request.status, request.response));
    request.onerror = request.onabort = () => reject(new ApiError(0, silent()));
    request.send(body);
  });
export const getGraph = async () => (await get("/api/v1/graph")).svg;
export const getServers = async () => (await get("/api/v1/servers")).servers;
// Whether a tool of another MCP server is called without asking; returns all servers.
export async function postConsent(server, tool, allowed) {
  const path = `/api/v1/servers/${encodeURIComponent(server)}/${allowed ? "allow" : "revoke"}`;
  return (await post(path, { tool })).servers;
}
// Whether a tool may have something that it needs without asking.
export const postGrant = (tool, need, allowed) =>
  post(`/api/v1/tools/${encodeURIComponent(tool)}/${allowed ? "allow" : "revoke"}`, { need });
export const getLessons = async () => (await get("/api/v1/lessons")).lessons;
const lessonPath = (id) => `/api/v1/lessons/${encodeURIComponent(id)}`;
export const patchLesson = (id, words) => call("PATCH", lessonPath(id), words);
export const deleteLesson = (id) => call("DELETE", lessonPath(id));
export const getProjects = async () => (await get("/api/v1/projects")).projects;
export const getProject = (id) => get(projectPath(id));
export const deleteProject = (id) => call("DELETE", projectPath(id));
export const getText = async (address) => (await send(address)).text();
// A file of a conversation for the next request, which names it by the id, without sending it again.
export const postFileAgain = async (address) => (await post(address)).id;
export const getResult = async (address) => parseExactly(await getText(address));

// With a text, the conversations that have its words.
export const getConversations = async (text = "", limit = 0) =>
  (await get("/api/v1/conversations", { ...searched(text), ...(limit && { limit }) }))
    .conversations;
// How many turns of a conversation are loaded at once, the newest first.
export const TURNS = 50;
export const getRecords = async (id, before) =>
  (await get(`${conversationPath(id)}/records`, { before, turns: TURNS })).records;
export const exportAddress = (id, form) =>
  `/api/v1/conversations/${encodeURIComponent(id)}/export.${form}`;
export const postFork = (id, turnId) => post(`${conversationPath(id)}/fork`, { turn_id: turnId });
// `change` has one or more of title, pinned, deleted, model and seen.
export const patchConversation = (id, change) =>
  call("PATCH", `/api/v1/conversations/${encodeURIComponent(id)}`, change);

// The settings, and what they change to; a key is only ever sent.
export const getSettings = () => get("/api/v1/settings");
export const patchSettings = (changes) => call("PATCH", "/api/v1/settings", { changes });
// The secrets that tools use, without their values.
const secretPath = (name) => `/api/v1/secrets/${encodeURIComponent(name)}`;
export const getSecrets = async () => (await get("/api/v1/secrets")).secrets;
export const putSecret = (name, value) => call("PUT", secretPath(name), { value });
export const deleteSecret = (name) => call("DELETE", secretPath(name));
// How far the permission for a secret is, which `service` begins.
export const authorizeSecret = (name, service) =>
  call(service ? "POST" : "GET", `${secretPath(name)}/authorization`, service);
// The model servers that run on the server's machine.
export const getLocalServers = async () => (await post("/api/v1/settings/servers")).servers;
// The models that the server has, as it would be with these changes.
export const getModels = async (changes) =>
  (await post("/api/v1/settings/models", { changes })).models;

// The cost of the person's requests by month, and the limit of a month.
export const getSpending = () => get("/api/v1/spending");
export const getToolAccounts = () => get("/api/v1/spending/tools");

// The stored data of the person, also after its deletion.
export const getData = () => get("/api/v1/data");
export const deleteData = () => call("DELETE", "/api/v1/data");

// The links of a conversation. A new one, which ends after some days or never (null), comes with its path.
const sharesPath = (conversationId) => `${conversationPath(conversationId)}/shares`;
const sharePath = (conversationId, id) => `${sharesPath(conversationId)}/${encodeURIComponent(id)}`;
export const getShares = async (conversationId) => (await get(sharesPath(conversationId))).shares;
export const postShare = (conversationId, days) => post(sharesPath(conversationId), { days });
export const renewShare = (conversationId, id) => post(sharePath(conversationId, id));
export const revokeShare = (conversationId, id) => call("DELETE", sharePath(conversationId, id));
// The public contents of a link: title, time and records.
export const getShared = (id) => get(`${conversationPath(id)}/conversation`);
