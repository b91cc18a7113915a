// Picking files: from a dialog, from the clipboard, or dropped anywhere on the page.

import { isLong } from "./drafts.js";
import { dispatch, store } from "./store.js";
import { t } from "./texts.js";

let number = 0;

export function pick(list, more = {}) {
  const files = [...list].map((content) => ({
    key: `file-${(number += 1)}`,
    name: content.name,
    size: content.size,
    content,
    ...more,
  }));
  if (files.length > 0) dispatch({ type: "files_attached", files });
}

// A copied table is both a picture and text, and meant as text. A long text becomes a
// file, which can be put into the request again.
export function pasted(event) {
  const { files, types } = event.clipboardData;
  const text = event.clipboardData.getData("text/plain");
  if (isLong(text)) {
    event.preventDefault();
    pick([new File([text], pastedName(), { type: "text/plain" })], { text });
    return;
  }
  if (files.length === 0 || types.includes("text/plain")) return;
  event.preventDefault();
  pick(files);
}

// A name that no attached file has, since a file replaces one of its name.
function pastedName() {
  const taken = new Set(store.peek().attached.map(({ name }) => name));
  for (let n = 1; ; n += 1) {
    const name = `${t("composer-pasted")}${n > 1 ? `-${n}` : ""}.txt`;
    if (!taken.has(name)) return name;
  }
}

const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");

export function acceptDrops() {
  const mark = (on) => document.documentElement.toggleAttribute("data-dropping", on);
  addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault(); // otherwise the browser would open the file instead of the page
    mark(true);
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false));
  addEventListener("drop", (event) => {
    mark(false);
    if (!holdsFiles(event)) return;
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    if (entries.some((entry) => entry?.isDirectory)) pickFolders(entries.filter(Boolean));
    else pick(event.dataTransfer.files);
  });
}

// A file's name says where it was: `folder-sub-name.csv`.
async function pickFolders(entries) {
  const found = [];
  for (const entry of entries) for await (const file of filesIn(entry)) found.push(file);
  pick(found);
}

export async function* filesIn(entry, before = "") {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    yield before ? new File([file], `${before}${file.name}`, { type: file.type }) : file;
    return;
  }
  const reader = entry.createReader();
  const read = () => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  for (let some = await read(); some.length > 0; some = await read())
    // a hundred at a time
    for (const inner of some)
      if (!inner.name.startsWith(".")) yield* filesIn(inner, `${before}${entry.name}-`);
}
