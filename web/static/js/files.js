// Files on their way into a request, checked against the server's limits before anything is sent; and where those of a turn are.

import { fileSize, plural } from "./format.js";

// What systems put into the names of screenshots would be invisible there; the server takes only what can be seen.
const cleanName = (name) => name.normalize("NFC").replace(/\s+/gu, " ").trim();

// `picked`: {key, name, size, content} each. A file takes the place of one with the same name; what is too much stays out.
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

// As src/selfeng/core/files.py has it.
function nameProblem(name) {
  if (/^[.-]/.test(name)) return `its name begins with ${name[0]}`;
  if (/[\p{C}\p{Zl}\p{Zp}/\\]/u.test(name))
    return "its name holds characters that a file's name must not have";
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

// Only these does the server give out as pictures, after it has looked at their content.
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const isPicture = (file) => PICTURES.has(file.media_type);

export const addressOf = (conversationId, { sha256, name }) =>
  `/api/conversations/${encodeURIComponent(conversationId)}/files/${sha256}/${encodeURIComponent(name)}`;
