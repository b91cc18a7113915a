// Files of the next request, checked against the server's limits before anything is sent; and the
// addresses of a turn's files.

import { conversationPath } from "./conversations.js";
import { fileSize } from "./format.js";
import { t } from "./texts.js";

// Some systems put invisible characters into the names of screenshots; the server accepts only visible ones.
const cleanName = (name) => name.normalize("NFC").replace(/\s+/gu, " ").trim();

// `picked`: {key, name, size, content} each. A file replaces one with the same name; files over the
// limits are left out.
export function attach(attached, picked, limits) {
  let files = attached;
  const problems = [];
  for (const file of picked.map((f) => ({ ...f, name: cleanName(f.name) }))) {
    const next = [...files.filter((f) => f.name !== file.name), file];
    const problem = nameProblem(file.name) || (limits && excess(next, limits));
    if (problem) problems.push(t("files-refused", { name: file.name, problem }));
    else files = next;
  }
  return { files, problem: problems.join(" ") };
}

// The same rules as in src/selfeng/core/files.py.
function nameProblem(name) {
  if (/^[.-]/.test(name)) return t("files-name-begins", { sign: name[0] });
  if (/[\p{C}\p{Zl}\p{Zp}/\\]/u.test(name)) return t("files-name-signs");
  return new TextEncoder().encode(name).length > 255 ? t("files-name-long") : "";
}

function excess(files, { count, size, each }) {
  if (files.length > count) return t("files-too-many", { count });
  const large = each < size && files.find((f) => f.size > each);
  if (large) return t("files-one-too-large", { most: fileSize(each), size: fileSize(large.size) });
  const total = files.reduce((sum, f) => sum + f.size, 0);
  return total > size ? t("files-too-large", { most: fileSize(size), size: fileSize(total) }) : "";
}

export function limitsText(limits) {
  if (!limits) return "";
  const { count, size, each = size } = limits;
  const values = { count, size: fileSize(size), each: fileSize(each) };
  return t(each < size ? "files-limits-each" : "files-limits", values);
}

// A turn's files as files of the next request, which the server has.
export const filesAgain = ({ files }, conversationId) =>
  files.map((file) => ({
    key: `${conversationId} ${file.sha256} ${file.name}`,
    name: file.name,
    size: file.size,
    address: addressOf(conversationId, file),
  }));

// The server sends only these types as pictures, after it has checked their content.
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const isPicture = (file) => PICTURES.has(file.media_type);

const LANGUAGES = {
  bash: ["sh", "bash"],
  css: ["css"],
  ini: ["ini", "toml", "cfg", "conf"],
  javascript: ["js", "mjs", "ts", "jsx", "tsx"],
  json: ["json", "jsonl", "ndjson", "geojson"],
  markdown: ["md", "markdown"],
  python: ["py", "pyi"],
  sql: ["sql"],
  xml: ["html", "htm", "xml", "svg"],
  yaml: ["yaml", "yml"],
};
const LANGUAGE_OF = new Map(
  Object.entries(LANGUAGES).flatMap(([name, endings]) => endings.map((ending) => [ending, name])),
);
const KINDS = new Map([
  ...["csv", "tsv", "tab"].map((ending) => [ending, "table"]),
  ...["json", "geojson"].map((ending) => [ending, "json"]),
  ...LANGUAGES.markdown.map((ending) => [ending, "markdown"]),
  ["ipynb", "notebook"],
  ...["txt", "log", "env", "lock", "srt", "tex", "rst"].map((ending) => [ending, "text"]),
]);

const nameOf = ({ path, name = path }) => name.split("/").at(-1);
const endingOf = (name) => name.split(".").at(-1).toLowerCase();

// "" for a language that has no colours here.
export const languageOf = (name) => LANGUAGE_OF.get(endingOf(name)) ?? "";

// How a file is shown: picture, table, json, notebook, markdown, code, text; or other, which is only downloaded.
export function kindOf(file) {
  const name = nameOf(file);
  if (isPicture(file)) return "picture";
  const known = KINDS.get(endingOf(name)) ?? (languageOf(name) && "code");
  const isPlain = /^[A-Z][A-Za-z]*$/.test(name) || file.media_type?.startsWith("text/");
  return known || (isPlain ? "text" : "other");
}

export const isTable = (file) => kindOf(file) === "table";

export const addressOf = (conversationId, { sha256, name }) =>
  `${conversationPath(conversationId)}/files/${sha256}/${encodeURIComponent(name)}`;

// The pictures that an answer may show by name.
export const picturesOf = ({ files, made }, conversationId) =>
  Object.fromEntries(
    [...files, ...made]
      .filter((file) => file.sha256 && isPicture(file))
      .map((file) => [encodeURI(file.name), addressOf(conversationId, file)]),
  );

const IS_FILE = /(^|_)(file|path|filename)s?($|_)/;

// Whether a parameter, by its name, is the name of a file.
export const isFileName = (name) => IS_FILE.test(name);
