// The reducer: (state, action) → state, the only place where the page's state changes. Pure; knows
// nothing of a browser.

import { announcementOf } from "./announcement.js";
import { inConversation, withDrafts } from "./drafts.js";
import { attach, filesAgain } from "./files.js";
import { feedChanges, newFeed } from "./feed.js";
import { list } from "./format.js";
import { closeFile, editFile, NEW_PROJECT, openFile, renewTabs, showTab } from "./projects.js";
import { settingsChanges, withoutTest } from "./settings.js";
import { t } from "./texts.js";
import { addEarlier, addRecords, branchOf, emptyThread, hasGap } from "./thread.js";
import { versionKey } from "./versions.js";

export const initialState = {
  connection: "connecting", // connecting, online, reconnecting, refused
  health: null,
  skew: 0, // milliseconds that this clock is ahead of the server's
  conversations: [],
  conversationSearch: { text: "", found: null }, // snippets by id, null: not known yet
  sharing: null, // the conversation whose links are shown: {id, shares, made, told, error}
  deleted: null, // the conversation that was deleted last: {id, title, open}
  conversationId: null,
  missing: false, // whether the conversation that was asked for isn't there
  choices: {}, // by conversation, "" for one that has not begun: {model, temporary}
  threads: {},
  branches: {}, // by conversation, the turn that its branch leads through; the newest by default
  // Asked, but not yet in the journal:
  // {key, text, files, answers, again, after, conversationId, turnId, sent, error}
  pending: [],
  stopping: {}, // turn ids
  selectedTurn: null, // null: the newest
  feed: newFeed, // of its steps
  view: "chat", // what a narrow page shows: chat, activity, library, lessons
  panel: "activity", // what a wide page shows beside the chat: activity, library, lessons
  panelOpen: true, // there; a narrow page has no panel beside the chat
  wide: false, // whether the panel has the chat's room, too
  tools: null,
  toolDetails: {},
  versions: {}, // of tools by name: {list, stale} or {error}
  versionSources: {}, // by versionKey: {version} or {error}
  changing: null, // the tool that is being rolled back, retired or restored
  changeProblem: null, // {name, message, remedy}
  openTool: null,
  search: "", // of the library, and which kind of tools it lists
  kind: "all",
  toolsFound: { text: "", tools: [] }, // what the server's search found for a text
  graph: null, // of the stages of a turn: {svg} or {error}
  lessons: null,
  projects: null,
  projectDetails: {}, // by id: {project} or {error}
  projectTexts: {}, // contents of files by their hash
  textErrors: {}, // and why some were not loaded
  results: {}, // values that tools returned, by their hash: {value} or {error}
  projectTabs: {}, // by id of the project: {shown, open, seen, edits}, as in projects.js
  draft: "",
  draftAfter: null, // the turn that it follows as another version of a request; null: it is none
  drafts: {}, // of the other conversations by their id, "" for a new one: {text, files, after}
  attached: [], // files of the next request: {key, name, size, content}
  focusComposer: 0, // grows when the composer should take the focus
  palette: false, // whether the command palette is open
  settings: null, // the dialog with the settings, as in settings.js
  notice: null, // {message, remedy}
  refused: "", // why files were not attached
  upload: null, // {key, name, share}: how much of a file of a pending request is sent
  announcement: { number: 0, text: "" },
};

export function reduce(state, action) {
  const change = changes[action.type];
  if (!change) throw new Error(`no such action: ${action.type}`);
  const next = change(state, action);
  return next.wide && next.view === "chat" ? { ...next, wide: false } : next;
}

export const currentThread = (state) => state.threads[state.conversationId] ?? emptyThread;

export const needsHistory = (state, id = state.conversationId) =>
  Boolean(id) && hasGap(state.threads[id] ?? emptyThread);

export const choiceOf = ({ choices, conversationId }) => ({
  model: "", // that of the settings
  temporary: false,
  ...choices[conversationId ?? ""],
});

export const pendingOf = (state) =>
  state.pending.filter((p) => p.conversationId === state.conversationId);

// The branch of the conversation that is shown; one that a request begins ends before it.
export function shownBranch(state) {
  const begun = pendingOf(state).findLast(({ after }) => after !== undefined);
  const { [state.conversationId]: through } = state.branches;
  return branchOf(currentThread(state), through, begun?.after);
}

// The turn whose activity is shown.
export const shownTurn = (state) =>
  currentThread(state).turns[state.selectedTurn] ?? shownBranch(state).turns.at(-1) ?? null;

// The turn that a new one follows in a conversation; undefined where that is the newest.
export function placeOf(state, id = state.conversationId) {
  const { [id]: thread = emptyThread } = state.threads;
  const last = branchOf(thread, state.branches[id]).turns.at(-1)?.id;
  const begun = state.pending.some((p) => p.conversationId === id && p.turnId);
  return begun || last === thread.order.at(-1) ? undefined : last;
}

// On a narrow page the panel is a view of its own.
const inPanel = (state, view) => ({ ...state, view, panel: view, panelOpen: true });

const focused = (state) => ({ ...state, focusComposer: state.focusComposer + 1 });

const announce = (state, text) =>
  text ? { ...state, announcement: { number: state.announcement.number + 1, text } } : state;

// The order of the search stays.
const snippetsOf = (conversations) =>
  Object.fromEntries(conversations.map(({ id, snippet = "" }) => [id, snippet]));

// Content that was loaded in its own place, or the error, by its key.
const put = (field, keyOf, valueOf) => (state, action) => ({
  ...state,
  [field]: { ...state[field], [keyOf(action)]: valueOf(action, state) },
});
const turnOf = ({ turnId }) => turnId;
const placeIn = ({ conversationId }) => conversationId;
const nameOf = ({ name }) => name;
const versionOf = ({ name, number }) => versionKey(name, number);
const hashOf = ({ sha256 }) => sha256;
const errorOf = ({ error }) => ({ error });

const UNSENT = { turnId: null, sent: false, error: null };

const changes = {
  connection_changed: (state, { connection }) => ({ ...withoutTest(state), connection }),
  health_loaded: (state, { health }) => ({ ...state, health }),
  conversations_loaded: listLoaded,
  conversation_changed: (state, { id, change }) => ({
    ...state,
    conversations: state.conversations.map((c) => (c.id === id ? { ...c, ...change } : c)),
  }),
  conversation_deleted: deleted,
  deletion_dismissed: (state) => ({ ...state, deleted: null }),
  // The dialog with the links of a conversation; of a new one the path is known only now.
  share_wanted: (state, { id }) => ({ ...state, sharing: { id, shares: null, made: null } }),
  shares_loaded: (state, { id, shares, told = "" }) => {
    const made = shares.some((share) => share.id === state.sharing?.made?.id);
    const change = { shares, told, error: null, ...(!made && { made: null }) };
    return announce(sharing(state, id, change), told);
  },
  share_made: (state, { id, share }) =>
    announce(sharing(state, id, { made: share }), t("share-made")),
  share_refused: (state, { id, error }) =>
    announce(sharing(state, id, { error }), `${error.message} ${error.remedy}`.trim()),
  share_closed: (state) => ({ ...state, sharing: null }),
  conversations_searched: (state, { text }) => ({
    ...state,
    conversationSearch: { text, found: text.trim() ? state.conversationSearch.found : null },
  }),
  conversations_found: (state, { text, conversations }) =>
    text === state.conversationSearch.text
      ? { ...state, conversationSearch: { text, found: snippetsOf(conversations) } }
      : state,
  conversation_opened: (state, { id, view = "chat" }) => ({
    ...inConversation(state, id),
    choices: { ...state.choices, "": {} },
    selectedTurn: null,
    view,
    missing: false,
    refused: "",
    notice: null,
  }),
  // The address names a conversation that was deleted, or that another person has.
  conversation_missed: missed,
  records_received: receive,
  choice_made: (state, { id, choice }) => {
    const key = id ?? "";
    return { ...state, choices: { ...state.choices, [key]: { ...state.choices[key], ...choice } } };
  },

  asked: (state, { type, again = "", after = placeOfDraft(state, again), ...request }) => ({
    ...state,
    pending: [
      ...state.pending,
      {
        answers: {},
        ...request,
        ...(again && { again }),
        ...(after !== null && { after }),
        conversationId: state.conversationId,
        ...(!state.conversationId && choiceOf(state)),
        ...UNSENT,
      },
    ],
    selectedTurn: null,
    missing: false,
    draft: "",
    draftAfter: null,
    attached: [],
    refused: "",
    notice: null,
  }),
  // Those of the tab's earlier page; the server knows them again if they had reached it.
  asks_restored: (state, { pending }) => ({
    ...state,
    pending: [...pending.map((p) => ({ ...p, sent: false })), ...state.pending],
  }),
  ask_sent: (state, { key }) => changed(state, key, { sent: true }),
  ask_retried: (state, { key }) => changed(state, key, { error: null, sent: false }),
  ask_accepted: acceptAsk,
  ask_refused: (state, { key, error }) =>
    announce(changed(state, key, { error }), t("told-not-sent", { error: error.message })),
  upload_progressed: (state, { upload }) => ({ ...state, upload }),
  pending_dismissed: (state, { key }) => ({
    ...state,
    pending: state.pending.filter((p) => p.key !== key),
  }),
  stop_requested: put("stopping", turnOf, () => true),

  draft_changed: (state, { text }) => ({ ...state, draft: text }),
  branches_restored: (state, { branches }) => ({ ...state, branches }),
  drafts_restored: (state, { drafts }) => withDrafts(state, drafts),
  files_attached: attached,
  file_detached: (state, { key }) =>
    focused({ ...state, attached: state.attached.filter((f) => f.key !== key), refused: "" }),
  file_put_into_text: (state, { key }) => {
    const { text } = state.attached.find((f) => f.key === key);
    const draft = [state.draft, text].filter(Boolean).join("\n");
    return focused({ ...state, draft, attached: state.attached.filter((f) => f.key !== key) });
  },
  example_chosen: (state, { text, files = state.attached, after: draftAfter = null }) =>
    focused({ ...state, draft: text, draftAfter, attached: files, view: "chat" }),
  composer_wanted: (state) => focused({ ...state, view: "chat" }),
  request_edited: (state, { turn }) =>
    focused({
      ...state,
      draft: turn.request,
      draftAfter: shownBranch(state).parents[turn.id] ?? null,
      attached: filesAgain(turn, state.conversationId),
      view: "chat",
    }),
  edit_cancelled: (state) => focused({ ...state, draft: "", draftAfter: null, attached: [] }),
  branch_chosen: (state, { turnId, number, count }) =>
    announce(
      {
        ...state,
        branches: { ...state.branches, [state.conversationId]: turnId },
        selectedTurn: null,
      },
      t("told-version", { number, count }),
    ),
  turn_selected: (state, { turnId }) => inPanel({ ...state, selectedTurn: turnId }, "activity"),
  view_selected: (state, { view }) => (view === "chat" ? { ...state, view } : inPanel(state, view)),
  panel_toggled: (state, { open = !state.panelOpen }) => ({
    ...state,
    panelOpen: open,
    wide: open && state.wide,
  }),
  ...feedChanges,
  step_wanted: (state, step) => inPanel(feedChanges.step_wanted(state, step), "activity"),
  // Gives the panel the chat's room, or gives it back.
  panel_widened: (state, { wide = !state.wide }) =>
    wide ? { ...inPanel(state, state.panel), wide } : { ...state, wide },

  tools_loaded: (state, { tools }) => ({ ...state, tools }),
  tool_opened: (state, { name }) =>
    inPanel({ ...state, openTool: name, changeProblem: null }, "library"),
  tool_closed: (state) => ({ ...state, openTool: null }),
  tool_loaded: (state, { name, tool }) => ({
    ...state,
    tools: state.tools?.map((t) => (t.name === name ? { ...t, ...useOf(tool) } : t)) ?? null,
    toolDetails: { ...state.toolDetails, [name]: { tool } },
  }),
  tool_not_loaded: put("toolDetails", nameOf, errorOf),
  graph_loaded: (state, { svg }) => ({ ...state, graph: { svg } }),
  graph_not_loaded: (state, { error }) => ({ ...state, graph: { error } }),
  request_forgotten: (state, { name, tool }) =>
    announce(
      { ...state, changing: null, toolDetails: { ...state.toolDetails, [name]: { tool } } },
      t("told-request-removed"),
    ),
  lessons_loaded: (state, { lessons }) => ({ ...state, lessons }),
  versions_loaded: put("versions", nameOf, ({ versions }) => ({ list: versions })),
  versions_not_loaded: put("versions", nameOf, errorOf),
  version_loaded: put("versionSources", versionOf, ({ version }) => ({ version })),
  version_not_loaded: put("versionSources", versionOf, errorOf),
  tool_change_begun: (state, { name }) => ({ ...state, changing: name, changeProblem: null }),
  tool_changed: (state, { tool }) => ({
    ...outdated(state, tool.name),
    changing: null,
    tools: state.tools?.map((t) => (t.name === tool.name ? { ...t, ...tool } : t)),
  }),
  tool_change_refused: (state, { name, error }) =>
    announce(
      { ...state, changing: null, changeProblem: { name, ...error } },
      t("told-not-possible", { error: error.message }),
    ),
  projects_loaded: (state, { projects }) => ({ ...state, projects }),
  project_begun: (state, { project }) => ({
    ...inConversation(
      state.conversationId === NEW_PROJECT ? { ...state, draft: "" } : state,
      project.id,
    ),
    projects: [project, ...(state.projects ?? []).filter((p) => p.id !== project.id)],
    selectedTurn: null,
    panel: "activity",
    view: "chat",
    notice: null,
  }),
  project_loaded: (state, { project }) =>
    renewTabs(
      {
        ...state,
        projects: state.projects?.map((p) =>
          p.id === project.id ? { ...p, status: project.status, goal: project.goal } : p,
        ),
        projectDetails: { ...state.projectDetails, [project.id]: { project } },
      },
      project,
    ),
  project_not_loaded: put("projectDetails", ({ id }) => id, errorOf),
  project_deleted: (state, { id }) => ({
    ...(state.conversationId === id ? inConversation(state, null) : state),
    projects: state.projects?.filter((p) => p.id !== id),
    view: "chat",
  }),
  file_opened: (state, { path }) => openFile({ ...state, view: "chat" }, path),
  file_closed: (state, { path }) => closeFile(state, path),
  file_edited: (state, { path, edit }) => editFile(state, path, edit),
  project_tab_shown: (state, { tab }) => showTab(state, tab),
  text_loaded: (state, { sha256, text }) => ({
    ...state,
    projectTexts: { ...state.projectTexts, [sha256]: text },
    textErrors: { ...state.textErrors, [sha256]: undefined },
  }),
  text_not_loaded: put("textErrors", hashOf, ({ error }) => error),
  result_loaded: put("results", hashOf, ({ value }) => ({ value })),
  result_not_loaded: put("results", hashOf, errorOf),
  search_changed: (state, { text }) => ({ ...state, search: text }),
  kind_chosen: (state, { kind }) => ({ ...state, kind }),
  tools_found: (state, { text, tools }) =>
    text === state.search ? { ...state, toolsFound: { text, tools } } : state,
  library_changed: (state, { name, change }) =>
    announce(outdated(state, name), t(`told-tool-${change}`, { name })),

  ...settingsChanges,

  palette_opened: (state) => ({ ...state, palette: true }),
  palette_closed: (state) => ({ ...state, palette: false }),
  earlier_received: put("threads", placeIn, ({ conversationId, records }, { threads }) =>
    addEarlier(threads[conversationId], records),
  ),
  noticed: (state, { type, message, remedy = "", ...more }) =>
    announce({ ...state, notice: { message, remedy, ...more } }, `${message} ${remedy}`.trim()),
  notice_dismissed: (state) => ({ ...state, notice: null }),
};

function missed(state) {
  const next = { ...inConversation(state, null), missing: true, notice: null };
  return announce(next, t("conversation-missing"));
}

// The open conversation may have been deleted in another tab. A list of `limit` conversations does not have older ones.
function listLoaded(state, { conversations: loaded, limit }) {
  const ids = new Set(loaded.map(({ id }) => id));
  const oldest = loaded.length === limit ? loaded.at(-1).active_at : "";
  const older = state.conversations.filter((c) => !ids.has(c.id) && c.active_at <= oldest);
  const conversations = [...loaded, ...older];
  const isIn = (list) => list.some(({ id }) => id === state.conversationId);
  const gone = isIn(state.conversations) && !isIn(conversations);
  return { ...(gone ? missed(state) : state), conversations };
}

// A request that is asked again is another version of it.
const placeOfDraft = (state, again) =>
  again ? (shownBranch(state).parents[again] ?? null) : state.draftAfter;

const sharing = (state, id, change) =>
  state.sharing?.id === id ? { ...state, sharing: { ...state.sharing, ...change } } : state;

const changed = (state, key, change) => ({
  ...state,
  pending: state.pending.map((p) => (p.key === key ? { ...p, ...change } : p)),
});

function deleted(state, { id }) {
  const gone = state.conversations.find((c) => c.id === id);
  const open = state.conversationId === id;
  const next = {
    ...(open ? { ...inConversation(state, null), selectedTurn: null } : state),
    conversations: state.conversations.filter((c) => c.id !== id),
    deleted: gone ? { id, title: gone.title, open } : null,
  };
  return announce(next, t(gone ? "conversation-deleted-told" : "temporary-deleted"));
}

// The fields that are newer on a tool's page than in its line of the list.
function useOf({ uses, standing, habits }) {
  const last = habits?.calls?.find(({ returned }) => returned)?.at;
  return { uses, standing, ...(last && { last_used: last }) };
}

// A tool has changed: its details and versions are shown until newer ones come.
const outdated = (state, name) => ({
  ...state,
  toolDetails: stale(state.toolDetails, name),
  versions: stale(state.versions, name),
});

function stale(all, name) {
  const { [name]: known, ...others } = all;
  return known && !known.error ? { ...others, [name]: { ...known, stale: true } } : others;
}

function receive(state, { conversationId, records, after = 0, live, now }) {
  const before = state.threads[conversationId] ?? emptyThread;
  const begun = before.lastSeq > 0 ? before : { ...before, lastSeq: after, earlier: after };
  const thread = addRecords(begun, records);
  const next = { ...state, threads: { ...state.threads, [conversationId]: thread } };
  next.pending = stillPending(state.pending, conversationId, thread, before);
  if (!live || records.length === 0) return next;
  next.skew = now - Date.parse(records.at(-1).at);
  if (state.branches[conversationId] && thread.order.length > before.order.length)
    // a new turn shows its branch
    next.branches = { ...state.branches, [conversationId]: undefined };
  const fresh = records.filter((r) => r.seq > before.lastSeq && r.seq <= thread.lastSeq);
  if (conversationId !== state.conversationId) return next;
  const told = fresh.map((record) => announcementOf(record, thread.turns[record.turn_id]));
  return announce(next, told.filter(Boolean).join(" "));
}

function attached(state, { files }) {
  const { files: all, problem } = attach(state.attached, files, state.health?.files);
  const next = focused({
    ...state,
    attached: all,
    view: "chat",
    refused: problem && `${problem} ${t("files-refused-remedy")}`,
  });
  return announce(next, problem || t("told-attached", { names: list(files.map((f) => f.name)) }));
}

// A turn ends the pending request that has its id. Before the server has sent the id, a new turn
// ends the oldest sent request with its text.
function stillPending(pending, conversationId, thread, before) {
  const told = new Set(pending.map((p) => p.turnId));
  const fresh = thread.order.filter((id) => !(id in before.turns) && !told.has(id));
  return pending.filter((p) => {
    if (p.error || p.conversationId !== conversationId) return true;
    if (p.turnId) return !(p.turnId in thread.turns);
    if (!p.sent) return true;
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
  const { model, temporary } = mine;
  const choices = { ...state.choices, [conversationId]: { model, temporary } };
  if (mine.conversationId) return { ...state, pending };
  return { ...state, pending, choices, ...(stays && { conversationId }) };
}
