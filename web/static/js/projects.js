// Projects: the open one, its files and their tabs, and example goals.

import { ACTIONS } from "./build.js";

// The place of a project that is not begun yet, among the ids of conversations.
export const NEW_PROJECT = "new-project";

// Goals that the built-in offline model has recipes for; the catalogue has them in each language, for other models.
export const EXAMPLE_GOALS = ["counter", "sales", "song"];

export const openProject = (state) =>
  state.projects?.find((p) => p.id === state.conversationId) ?? null;

export const detailOf = (state) => state.projectDetails[state.conversationId] ?? null;

export const fileOf = (state, path) =>
  detailOf(state)?.project?.files.find((file) => file.path === path) ?? null;

// Grows with everything that may have changed the project on the server.
export const stampOf = ({ order, turns }) =>
  order.map((id) => `${turns[id].state} ${turns[id].build?.touched ?? 0}`).join(",");

// The newest figures of a thread, with the current number of files, and whether a file has changed
// since; null before the first examination.
export function figuresIn({ order, turns }, files) {
  const index = order.findLastIndex((id) => turns[id].build?.figures);
  if (index < 0) return null;
  const stale = order.slice(index + 1).some((id) => turns[id].steps.some((step) => step.change));
  return { ...turns[order[index]].build.figures, files: files.length, stale };
}

// The projects whose name or goal has all words of a text.
export function listedProjects(projects, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ name, goal }) => {
    const all = `${name} ${goal}`.toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return projects.filter(has);
}

const SMALL =
  /^(an?|and|das|de[rmsn]|die|ein(e[rmsn]?)?|for|für|in|of|on|or|that|the|to|und|with)$/;

// A name for a project with that goal.
export function nameOf(goal) {
  const plain = goal.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const chosen = words.filter((word) => !SMALL.test(word)).slice(0, 3);
  return chosen.join("-").slice(0, 40) || "project";
}

// Tabs that are no files: no path begins like these.
export const HISTORY = "/history";
export const FILES = "/files";

// `seen`: the hash of each open file when a person last saw it; `edits`: unsaved texts by path, {text, base}.
const NO_TABS = { shown: HISTORY, open: [], seen: {}, edits: {} };

export const tabsOf = (state) => state.projectTabs[state.conversationId] ?? NO_TABS;

export const isChanged = (tabs, { path, sha256 }) =>
  path in tabs.seen && tabs.seen[path] !== sha256;

const withTabs = (state, tabs, id = state.conversationId) => ({
  ...state,
  projectTabs: { ...state.projectTabs, [id]: tabs },
});

// The file that is shown is seen as it is now.
function seen(tabs, files) {
  const file = files.find(({ path }) => path === tabs.shown);
  return file ? { ...tabs, seen: { ...tabs.seen, [file.path]: file.sha256 } } : tabs;
}

const filesOf = (state) => detailOf(state)?.project?.files ?? [];

export const showTab = (state, shown) =>
  withTabs(state, seen({ ...tabsOf(state), shown }, filesOf(state)));

export function openFile(state, path) {
  const tabs = tabsOf(state);
  const open = tabs.open.includes(path) ? tabs.open : [...tabs.open, path];
  return showTab(withTabs(state, { ...tabs, open }), path);
}

// The neighbour is shown instead, if the closed one was.
export function closeFile(state, path) {
  const tabs = tabsOf(state);
  const at = tabs.open.indexOf(path);
  const open = tabs.open.filter((one) => one !== path);
  const { [path]: gone, ...others } = tabs.seen;
  const next = withTabs(state, { ...tabs, open, seen: others });
  return tabs.shown === path ? showTab(next, open[Math.min(at, open.length - 1)] ?? FILES) : next;
}

// `edit` is null when there is nothing to keep any more.
export function editFile(state, path, edit) {
  const tabs = tabsOf(state);
  const { [path]: gone, ...others } = tabs.edits;
  return withTabs(state, { ...tabs, edits: edit ? { ...others, [path]: edit } : others });
}

// After a project was loaded: what is gone is closed, except a file that was only just made.
export function renewTabs(state, { id, files }) {
  const tabs = state.projectTabs[id];
  if (!tabs) return state;
  const paths = new Set(files.map(({ path }) => path));
  const isKept = (path) => paths.has(path) || !(path in tabs.seen);
  const open = tabs.open.filter(isKept);
  const shown = tabs.shown.startsWith("/") || isKept(tabs.shown) ? tabs.shown : FILES;
  return withTabs(state, seen({ ...tabs, open, shown }, files), id);
}

// The steps of a turn that did something, without a check of nothing; and the files that it changed, each once.
export const doneIn = (steps) =>
  steps.filter(
    ({ kind, figures }) =>
      ACTIONS.includes(kind) ||
      kind === "restored" ||
      (kind === "project_check" && figures?.files > 0),
  );
export const changedIn = (steps) => [
  ...new Set(
    steps
      .filter(({ change }) => change && !["deleted", "unchanged"].includes(change.change))
      .map(({ change }) => change.path),
  ),
];

// The target of a build's action, with the arguments of a program.
export const targetOf = ({ arguments: args = {} } = {}) =>
  [args.name ?? args.package, ...(args.arguments ?? [])].filter(Boolean).join(" ");

// The rows of a tree: {name, depth, file} each; folders have no file.
export function tree(files) {
  const rows = [];
  let above = [];
  for (const file of [...files].sort((a, b) => compare(a.path.split("/"), b.path.split("/")))) {
    const parts = file.path.split("/");
    const name = parts.pop();
    const shared = parts.findIndex((part, i) => part !== above[i]);
    const from = shared < 0 ? Math.min(parts.length, above.length) : shared;
    parts.slice(from).forEach((folder, i) =>
      rows.push({
        name: folder,
        path: parts.slice(0, from + i + 1).join("/"),
        depth: from + i,
        file: null,
      }),
    );
    rows.push({ name, path: file.path, depth: parts.length, file });
    above = parts;
  }
  return rows;
}

// Folders before files, both by name.
function compare([a, ...as], [b, ...bs]) {
  if (as.length > 0 !== bs.length > 0) return as.length > 0 ? -1 : 1;
  return a === b && as.length > 0 ? compare(as, bs) : a < b ? -1 : 1;
}

const TEXTS =
  /\.(py|md|txt|json|csv|tsv|toml|ini|cfg|ya?ml|html|css|js|svg|xml|log|sql|sh)$|(^|\/)[A-Z][A-Za-z]*$/;

export const isText = ({ path }) => TEXTS.test(path);

export const projectPath = (id) => `/api/v1/projects/${encodeURIComponent(id)}`;

// With the hash, so that a changed file is fetched again.
export const fileAddress = (id, { path, sha256 }) =>
  `${projectPath(id)}/files/${path.split("/").map(encodeURIComponent).join("/")}?${sha256.slice(0, 16)}`;

export const STATUS = {
  building: "running",
  finished: "done",
  failed: "failed",
  stopped: "stopped",
};
