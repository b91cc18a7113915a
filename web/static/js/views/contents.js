// The content of a project's file: a picture, a table, or text; anything else can only be downloaded.

import { useEffect } from "preact/hooks";
import { isTable, parseTable } from "../csv.js";
import { isPicture } from "../files.js";
import { plural } from "../format.js";
import { html } from "../html.js";
import { loadText } from "../loading.js";
import { fileAddress, isText, languageOf } from "../projects.js";
import { store } from "../store.js";
import { CodeBlock } from "./code.js";

const MOST_ROWS = 100;
const LARGEST = 512 * 1024;

export function Contents({ id, file }) {
  const text = store.value.projectTexts[file.sha256];
  const readable = isText(file) && file.size <= LARGEST;
  useEffect(() => {
    if (readable && text == null) loadText(id, file);
  }, [id, file.sha256]);
  if (isPicture(file))
    return html`<img class="picture" data-testid="project-picture" src=${fileAddress(id, file)} alt=${file.path} />`;
  if (!readable)
    return html`<p class="step-note">${isText(file) ? "It is too large to be shown here; download it." : "It is not text; download it to open it."}</p>`;
  if (text == null) return html`<span class="spinner" role="img" aria-label="Loading"></span>`;
  if (text === "") return html`<p class="step-note">It is empty.</p>`;
  if (isTable(file))
    return html`<${Table} rows=${parseTable(text, MOST_ROWS + 1)} label=${file.path} />`;
  return html`<${CodeBlock} code=${text} language=${languageOf(file.path)} label=${file.path} whole />`;
}

function Table({ rows: [head, ...rows], label }) {
  return html`<div class="table-scroll data-table" tabindex="0" role="region" aria-label=${label} data-testid="project-table"><table>
      <thead><tr>${head.map((cell, i) => html`<th key=${i} scope="col">${cell}</th>`)}</tr></thead>
      <tbody>${rows.slice(0, MOST_ROWS - 1).map((row, i) => html`<tr key=${i}>${row.map((cell, j) => html`<td key=${j}>${cell}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${rows.length >= MOST_ROWS && html`<p class="step-note">The first ${plural(MOST_ROWS - 1, "row")}; download it for all of them.</p>`}`;
}
