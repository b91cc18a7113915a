// The reducer: (state, action) → state, the only place where the page's state changes. Pure; knows nothing of a browser.

import { announcementOf } from "./announcement.js";
import { inConversation, withDrafts } from "./drafts.js";
import { attach, filesAgain } from "./files.js";
import { addRecords, emptyThread, hasGap } from "./thread.js";
import { versionKey } from "./versions.js";

export const initialState = {
  connection: "connecting", // connecting, online, reconnecting, refused
  health: null,
  skew: 0, // milliseconds that this clock is ahead of the server's
  conversations: [],
  conversationSearch: { text: "", found: null }, // ids, null: not known yet
  deleted: null, // the conversation that was deleted last: {id, title, open}
  conversationId: null,
  missing: false, // whether the conversation that was asked for isn't there
  threads: {},
  pending: [], // asked, but not yet in the journal: {key, text, files, answers, conversationId, turnId, error}
  stopping: {}, // turn ids
  selectedTurn: null, // null: the newest
  view: "chat", // what a narrow page shows: chat, activity, library, lessons, projects
  panel: "activity", // what a wide page shows beside the chat: activity, library, lessons, projects
  tools: null,
  toolDetails: {},
  versions: {}, // of tools by name: {list, stale} or {error}
  versionSources: {}, // by versionKey: {version} or {error}
  changing: null, // the tool that is being rolled back, retired or restored
  changeProblem: null, // {name, message, remedy}
  openTool: null,
  search: "",
  graph: null, // of the stages of a turn: {svg} or {error}
  lessons: null,
  showRetired: false,
  projects: null,
  projectDetails: {}, // by id: {project} or {error}
  projectTexts: {}, // contents of files by their hash
  results: {}, // values that tools returned, by their hash: {value} or {error}
  openFile: null, // path of the file of the open project that a person has chosen
  draft: "",
  drafts: {}, // of the other conversations by their id, "" for a new one: {text, files}
  attached: [], // files of the next request: {key, name, size, content}
  focusComposer: 0, // grows when the composer should take the focus
  notice: null, // {message, remedy}
  announcement: { number: 0, text: "" },
};

export function reduce(state, action) {
  const change = changes[action.type];
  if (!change) throw new Error(`no such action: ${action.type}`);
  return change(state, action);
}

export const currentThread = (state) => state.threads[state.conversationId] ?? emptyThread;

export const needsHistory = (state, id = state.conversationId) =>
  Boolean(id) && hasGap(state.threads[id] ?? emptyThread);

export const pendingOf = (state) =>
  state.pending.filter((p) => p.conversationId === state.conversationId);

// The turn whose activity is shown.
export function shownTurn(state) {
  const { order, turns } = currentThread(state);
  return turns[state.selectedTurn] ?? turns[order.at(-1)] ?? null;
}

const focused = (state) => ({ ...state, focusComposer: state.focusComposer + 1 });

const announce = (state, text) =>
  text ? { ...state, announcement: { number: state.announcement.number + 1, text } } : state;

const changes = {
  connection_changed: (state, { connection }) => ({ ...state, connection }),
  health_loaded: (state, { health }) => ({ ...state, health }),
  conversations_loaded: (state, { conversations }) => ({ ...state, conversations }),
  conversation_changed: (state, { id, change }) => ({
    ...state,
    conversations: state.conversations.map((c) => (c.id === id ? { ...c, ...change } : c)),
  }),
  conversation_deleted: deleted,
  deletion_dismissed: (state) => ({ ...state, deleted: null }),
  conversations_searched: (state, { text }) => ({
    ...state,
    conversationSearch: { text, found: text.trim() ? state.conversationSearch.found : null },
  }),
  conversations_found: (state, { text, conversations }) =>
    text === state.conversationSearch.text
      ? { ...state, conversationSearch: { text, found: conversations.map(({ id }) => id) } }
      : state,
  conversation_opened: (state, { id }) => ({
    ...inConversation(state, id),
    selectedTurn: null,
    openFile: null,
    view: "chat",
    missing: false,
    notice: null,
  }),
  // The address names a conversation that was deleted, or that another person has.
  conversation_missed: (state) =>
    announce(
      { ...inConversation(state, null), missing: true, notice: null },
      "This conversation isn’t here.",
    ),
  records_received: receive,

  asked: (state, { key, text, files, answers = [] }) => ({
    ...state,
    pending: [
      ...state.pending,
      {
        key,
        text,
        files,
        answers,
        conversationId: state.conversationId,
        turnId: null,
        error: null,
      },
    ],
    selectedTurn: null,
    missing: false,
    draft: "",
    attached: [],
    notice: null,
  }),
  ask_accepted: acceptAsk,
  ask_refused: (state, { key, error }) =>
    announce(
      { ...state, pending: state.pending.map((p) => (p.key === key ? { ...p, error } : p)) },
      `Not sent: ${error.message}`,
    ),
  pending_dismissed: (state, { key }) => ({
    ...state,
    pending: state.pending.filter((p) => p.key !== key),
  }),
  stop_requested: (state, { turnId }) => ({
    ...state,
    stopping: { ...state.stopping, [turnId]: true },
  }),

  draft_changed: (state, { text }) => ({ ...state, draft: text }),
  drafts_restored: (state, { drafts }) => withDrafts(state, drafts),
  files_attached: attached,
  file_detached: (state, { key }) =>
    focused({ ...state, attached: state.attached.filter((f) => f.key !== key) }),
  example_chosen: (state, { text, files = state.attached }) =>
    focused({ ...state, draft: text, attached: files, view: "chat" }),
  composer_wanted: (state) => focused({ ...state, view: "chat" }),
  request_edited: (state, { turn }) =>
    focused({
      ...state,
      draft: turn.request,
      attached: filesAgain(turn, state.conversationId),
      view: "chat",
    }),
  turn_selected: (state, { turnId }) => ({
    ...state,
    selectedTurn: turnId,
    panel: "activity",
    view: "activity",
  }),
  view_selected: (state, { view }) => ({
    ...state,
    view,
    panel: view === "chat" ? state.panel : view,
  }),

  tools_loaded: (state, { tools }) => ({ ...state, tools }),
  tool_opened: (state, { name }) => ({
    ...state,
    openTool: name,
    changeProblem: null,
    panel: "library",
    view: "library",
  }),
  tool_closed: (state) => ({ ...state, openTool: null }),
  tool_loaded: (state, { name, tool }) => ({
    ...state,
    tools:
      state.tools?.map((t) =>
        t.name === name ? { ...t, uses: tool.uses, standing: tool.standing } : t,
      ) ?? null,
    toolDetails: { ...state.toolDetails, [name]: { tool } },
  }),
  tool_not_loaded: (state, { name, error }) => ({
    ...state,
    toolDetails: { ...state.toolDetails, [name]: { error } },
  }),
  graph_loaded: (state, { svg }) => ({ ...state, graph: { svg } }),
  graph_not_loaded: (state, { error }) => ({ ...state, graph: { error } }),
  request_forgotten: (state, { name, tool }) =>
    announce(
      { ...state, changing: null, toolDetails: { ...state.toolDetails, [name]: { tool } } },
      "Request removed.",
    ),
  lessons_loaded: (state, { lessons }) => ({ ...state, lessons }),
  versions_loaded: (state, { name, versions }) => ({
    ...state,
    versions: { ...state.versions, [name]: { list: versions } },
  }),
  versions_not_loaded: (state, { name, error }) => ({
    ...state,
    versions: { ...state.versions, [name]: { error } },
  }),
  version_loaded: (state, { name, number, version }) => ({
    ...state,
    versionSources: { ...state.versionSources, [versionKey(name, number)]: { version } },
  }),
  version_not_loaded: (state, { name, number, error }) => ({
    ...state,
    versionSources: { ...state.versionSources, [versionKey(name, number)]: { error } },
  }),
  tool_change_begun: (state, { name }) => ({ ...state, changing: name, changeProblem: null }),
  tool_changed: (state, { tool }) => ({
    ...outdated(state, tool.name),
    changing: null,
    tools: state.tools?.map((t) => (t.name === tool.name ? tool : t)),
  }),
  tool_change_refused: (state, { name, error }) =>
    announce(
      { ...state, changing: null, changeProblem: { name, ...error } },
      `Not possible: ${error.message}`,
    ),
  projects_loaded: (state, { projects }) => ({ ...state, projects }),
  project_begun: (state, { project }) => ({
    ...inConversation(state, project.id),
    projects: [project, ...(state.projects ?? []).filter((p) => p.id !== project.id)],
    selectedTurn: null,
    openFile: null,
    panel: "activity",
    view: "chat",
    notice: null,
  }),
  project_loaded: (state, { project }) => ({
    ...state,
    projects: state.projects?.map((p) =>
      p.id === project.id ? { ...p, status: project.status, goal: project.goal } : p,
    ),
    projectDetails: { ...state.projectDetails, [project.id]: { project } },
  }),
  project_not_loaded: (state, { id, error }) => ({
    ...state,
    projectDetails: { ...state.projectDetails, [id]: { error } },
  }),
  project_deleted: (state, { id }) => ({
    ...(state.conversationId === id ? inConversation(state, null) : state),
    projects: state.projects?.filter((p) => p.id !== id),
    panel: "projects",
    view: "projects",
  }),
  file_opened: (state, { path }) => ({ ...state, openFile: path, view: "chat" }),
  text_loaded: (state, { sha256, text }) => ({
    ...state,
    projectTexts: { ...state.projectTexts, [sha256]: text },
  }),
  result_loaded: (state, { sha256, value }) => ({
    ...state,
    results: { ...state.results, [sha256]: { value } },
  }),
  result_not_loaded: (state, { sha256, error }) => ({
    ...state,
    results: { ...state.results, [sha256]: { error } },
  }),
  retired_shown: (state, { shown }) => ({ ...state, showRetired: shown }),
  search_changed: (state, { text }) => ({ ...state, search: text }),
  library_changed(state, { name, change, reason }) {
    return announce(
      outdated(state, name),
      `Tool library: ${name} was ${change.replace("_", " ")}${reason ? `, ${reason}` : ""}.`,
    );
  },

  noticed: (state, { message, remedy = "" }) =>
    announce({ ...state, notice: { message, remedy } }, `${message} ${remedy}`.trim()),
  notice_dismissed: (state) => ({ ...state, notice: null }),
};

function deleted(state, { id }) {
  const gone = state.conversations.find((c) => c.id === id);
  const open = state.conversationId === id;
  const next = {
    ...(open ? { ...inConversation(state, null), selectedTurn: null } : state),
    conversations: state.conversations.filter((c) => c.id !== id),
    deleted: { id, title: gone?.title ?? "", open },
  };
  return announce(next, "Conversation deleted. It can be restored with Undo.");
}

// A tool has changed: its details are dropped, its versions shown until newer ones come.
function outdated(state, name) {
  const { [name]: gone, ...toolDetails } = state.toolDetails;
  const { [name]: known, ...others } = state.versions;
  return {
    ...state,
    toolDetails,
    versions: known?.list ? { ...others, [name]: { list: known.list, stale: true } } : others,
  };
}

function receive(state, { conversationId, records, live, now }) {
  const before = state.threads[conversationId] ?? emptyThread;
  const thread = addRecords(before, records);
  const next = { ...state, threads: { ...state.threads, [conversationId]: thread } };
  next.pending = stillPending(state.pending, conversationId, thread, before);
  if (!live || records.length === 0) return next;
  next.skew = now - Date.parse(records.at(-1).at);
  const fresh = records.filter((r) => r.seq > before.lastSeq && r.seq <= thread.lastSeq);
  return conversationId === state.conversationId
    ? announce(next, fresh.map(announcementOf).filter(Boolean).join(" "))
    : next;
}

function attached(state, { files }) {
  const { files: all, problem } = attach(state.attached, files, state.health?.files);
  const next = focused({
    ...state,
    attached: all,
    view: "chat",
    notice: problem ? { message: problem, remedy: "" } : null,
  });
  return announce(next, problem || `${files.map((f) => f.name).join(", ")} attached.`);
}

// A turn ends the pending request that has its id. Before the server has sent the id, a new turn ends the oldest request with its text.
function stillPending(pending, conversationId, thread, before) {
  const told = new Set(pending.map((p) => p.turnId));
  const fresh = thread.order.filter((id) => !(id in before.turns) && !told.has(id));
  return pending.filter((p) => {
    if (p.error || p.conversationId !== conversationId) return true;
    if (p.turnId) return !(p.turnId in thread.turns);
    const index = fresh.findIndex((id) => thread.turns[id].request === p.text);
    if (index >= 0) fresh.splice(index, 1);
    return index < 0;
  });
}

function acceptAsk(state, { key, conversationId, turnId }) {
  const mine = state.pending.find((p) => p.key === key);
  if (!mine) return state;
  const stays = state.conversationId === mine.conversationId;
  const known = turnId in (state.threads[conversationId]?.turns ?? {});
  const others = known ? state.pending.filter((p) => p !== mine) : state.pending;
  // Requests sent meanwhile in the conversation without an id belong to it too.
  const joined = others.map((p) =>
    p.conversationId === mine.conversationId ? { ...p, conversationId } : p,
  );
  const pending = joined.map((p) => (p.key === key ? { ...p, turnId } : p));
  return { ...state, pending, conversationId: stays ? conversationId : state.conversationId };
}
