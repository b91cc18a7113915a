// Projects: the open one, its files, and example goals.

// Goals that the built-in offline model has recipes for; a full model takes any.
export const EXAMPLE_GOALS = [
  { name: "counter", goal: "A command line tool that counts the words of a file" },
  { name: "sales", goal: "A report with a chart on a CSV file of sales" },
  { name: "song", goal: "Write a melody as a MIDI file" },
];

export const openProject = (state) =>
  state.projects?.find((p) => p.id === state.conversationId) ?? null;

export const detailOf = (state) => state.projectDetails[state.conversationId] ?? null;

export const fileOf = (state, path) =>
  detailOf(state)?.project?.files.find((file) => file.path === path) ?? null;

// Grows with everything that may have changed the project on the server.
export const stampOf = ({ order, turns }) =>
  order.map((id) => `${turns[id].state} ${turns[id].build?.touched ?? 0}`).join(",");

// The newest figures of a thread, with the current number of files, and whether a file has changed since; null before the first examination.
export function figuresIn({ order, turns }, files) {
  const index = order.findLastIndex((id) => turns[id].build?.figures);
  if (index < 0) return null;
  const stale = order.slice(index + 1).some((id) => turns[id].steps.some((step) => step.change));
  return { ...turns[order[index]].build.figures, files: files.length, stale };
}

// Which file is shown: the chosen one as long as it exists, else main.py, else the first.
export function shownFile(files, chosen) {
  return (
    files.find((f) => f.path === chosen) ??
    files.find((f) => f.path === "main.py") ??
    files[0] ??
    null
  );
}

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

const LANGUAGES = { py: "python", json: "json" };
const TEXTS =
  /\.(py|md|txt|json|csv|tsv|toml|ini|cfg|ya?ml|html|css|js|svg|xml|log|sql|sh)$|(^|\/)[A-Z][A-Za-z]*$/;

export const languageOf = (path) => LANGUAGES[path.split(".").at(-1)] ?? "";

export const isText = ({ path }) => TEXTS.test(path);

export const projectPath = (id) => `/api/projects/${encodeURIComponent(id)}`;

// With the hash, so that a changed file is fetched again.
export const fileAddress = (id, { path, sha256 }) =>
  `${projectPath(id)}/files/${path.split("/").map(encodeURIComponent).join("/")}?${sha256.slice(0, 16)}`;

export const STATUS = {
  building: "running",
  finished: "done",
  failed: "failed",
  stopped: "stopped",
};
