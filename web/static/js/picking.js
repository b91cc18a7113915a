// Picking files: from a dialog, from the clipboard, or dropped anywhere on the page.

import { dispatch } from "./store.js";

let number = 0;

export function pick(list) {
  const files = [...list].map((content) => ({
    key: `file-${(number += 1)}`,
    name: content.name,
    size: content.size,
    content,
  }));
  if (files.length > 0) dispatch({ type: "files_attached", files });
}

// What is copied from a table is both a picture and text, and meant as text.
export function pasted(event) {
  const { files, types } = event.clipboardData;
  if (files.length === 0 || types.includes("text/plain")) return;
  event.preventDefault();
  pick(files);
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
    pick(event.dataTransfer.files);
  });
}
