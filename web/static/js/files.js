// Files of the next request, checked against the server's limits before anything is sent; and the addresses of a turn's files.

import { fileSize, plural } from "./format.js";

// Some systems put invisible characters into the names of screenshots; the server accepts only visible ones.
const cleanName = (name) => name.normalize("NFC").replace(/\s+/gu, " ").trim();

// `picked`: {key, name, size, content} each. A file replaces one with the same name; files over the limits are left out.
export function attach(attached, picked, limits) {
  let files = attached;
  const problems = [];
  for (const file of picked.map((f) => ({ ...f, name: cleanName(f.name) }))) {
    const next = [...files.filter((f) => f.name !== file.name), file];
    const problem = nameProblem(file.name) || (limits && excess(next, limits));
    if (problem) problems.push(`${file.name} was not attached: ${problem}.`);
    else files = next;
  }
  return { files, problem: problems.join(" ") };
}

// The same rules as in src/selfeng/core/files.py.
function nameProblem(name) {
  if (/^[.-]/.test(name)) return `its name begins with ${name[0]}`;
  if (/[\p{C}\p{Zl}\p{Zp}/\\]/u.test(name))
    return "its name contains characters that are not allowed";
  return new TextEncoder().encode(name).length > 255 ? "its name is too long" : "";
}

function excess(files, { count, size }) {
  if (files.length > count) return `${plural(count, "file")} may come with a request`;
  const total = files.reduce((sum, f) => sum + f.size, 0);
  return total > size
    ? `all files together may have ${fileSize(size)}, these have ${fileSize(total)}`
    : "";
}

export const limitsText = (limits) =>
  limits ? `up to ${plural(limits.count, "file")}, ${fileSize(limits.size)} together` : "";

// A turn's files as files of the next request; their contents are fetched from the server when it is sent.
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

export const addressOf = (conversationId, { sha256, name }) =>
  `/api/conversations/${encodeURIComponent(conversationId)}/files/${sha256}/${encodeURIComponent(name)}`;
