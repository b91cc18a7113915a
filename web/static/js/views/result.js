// A long value below its answer: a table to sort, a tree or a text, to copy and to download.

import { useEffect, useMemo, useState } from "preact/hooks";
import { fileSize, plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { loadResult } from "../loading.js";
import {
  addressOfResult,
  cellText,
  longResults,
  shapeWords,
  sortRows,
  tableOf,
  tabSeparated,
} from "../results.js";
import { store } from "../store.js";
import { CopyButton } from "./code.js";

const AT_ONCE = 1024 * 1024;
const PAGE = 200;
const OPENED = 12; // members of an object whose members are open from the start

export function LongResults({ turn, conversationId }) {
  return longResults(turn).map(
    (reference) =>
      html`<${LongResult} key=${reference.sha256} reference=${reference} conversationId=${conversationId} />`,
  );
}

function LongResult({ reference, conversationId }) {
  const [wanted, setWanted] = useState(reference.size <= AT_ONCE);
  const loaded = store.value.results[reference.sha256];
  useEffect(() => {
    if (wanted && !loaded) loadResult(conversationId, reference);
  }, [wanted, reference.sha256]);
  const download = (format, words) =>
    html`<a class="button small" data-testid=${`result-${format}`} href=${addressOfResult(conversationId, reference, format)} download=${`result.${format}`}><${Icon} name="download" />${words}</a>`;
  const shape = shapeWords(reference);
  return html`<section class="value" data-testid="long-result" data-kind=${reference.kind} aria-label=${shape}>
    <header class="value-head">
      <span class="value-shape">${shape}</span>
      ${loaded && "value" in loaded && html`<${CopyValue} value=${loaded.value} />`}
      ${reference.kind !== "text" && download("csv", "CSV")}
      ${reference.kind === "text" ? download("text", "Text") : download("json", "JSON")}
    </header>
    ${loaded ? html`<${Loaded} ...${loaded} label=${shape} />` : wanted ? html`<p class="step-note"><span class="spinner" role="img" aria-label="Loading"></span></p>` : html`<button type="button" class="code-more" onClick=${() => setWanted(true)}>Show it (${fileSize(reference.size)})</button>`}
  </section>`;
}

function Loaded({ value, error, label }) {
  if (error)
    return html`<p class="step-note" role="alert">${`It could not be loaded: ${error.message}.`}</p>`;
  return html`<${Whole} value=${value} label=${label} />`;
}

function Whole({ value, label }) {
  const table = useMemo(() => tableOf(value), [value]);
  if (table) return html`<${SortableTable} ...${table} label=${label} />`;
  if (value !== null && typeof value === "object")
    return html`<div class="value-tree" tabindex="0" role="region" aria-label=${label}><${Members} value=${value} open=${Object.keys(value).length <= OPENED} /></div>`;
  return html`<pre class="value-text" tabindex="0" aria-label=${label}>${cellText(value)}</pre>`;
}

function CopyValue({ value }) {
  const table = useMemo(() => tableOf(value), [value]);
  const text = () =>
    table
      ? tabSeparated(table)
      : typeof value === "string"
        ? value
        : JSON.stringify(value, null, 2);
  return html`<${CopyButton} text=${text} label="the value" />`;
}

function SortableTable({ columns, rows, label }) {
  const [order, setOrder] = useState({ column: null, down: false });
  const [shown, setShown] = useState(PAGE);
  const sorted = useMemo(
    () => (order.column === null ? rows : sortRows(rows, order.column, order.down)),
    [rows, order],
  );
  const press = (column) =>
    setOrder((now) => ({ column, down: now.column === column && !now.down }));
  const numeric = useMemo(
    () =>
      columns.map((_, n) =>
        rows.slice(0, PAGE).every((row) => row[n] == null || typeof row[n] === "number"),
      ),
    [rows],
  );
  const direction = (n) => (order.column !== n ? "none" : order.down ? "descending" : "ascending");
  return html`<div class="table-scroll value-table" tabindex="0" role="region" aria-label=${label}><table>
      <thead><tr>${columns.map(
        (
          name,
          n,
        ) => html`<th key=${n} scope="col" aria-sort=${direction(n)} data-numeric=${numeric[n]}>
          <button type="button" class="sort" onClick=${() => press(n)}>${name}<span class="sort-sign" aria-hidden="true">${{ ascending: "▲", descending: "▼" }[direction(n)] ?? ""}</span></button>
        </th>`,
      )}</tr></thead>
      <tbody>${sorted
        .slice(0, shown)
        .map(
          (row, i) =>
            html`<tr key=${i}>${row.map((cell, n) => html`<td key=${n} data-numeric=${numeric[n]} title=${typeof cell === "number" ? String(cell) : null}>${cellText(cell)}</td>`)}</tr>`,
        )}</tbody>
    </table></div>
    ${rows.length > shown && html`<button type="button" class="code-more" data-testid="more-rows" onClick=${() => setShown(shown + PAGE)}>The first ${shown.toLocaleString("en")} of ${plural(rows.length, "row")}; show more</button>`}`;
}

// The members of an object or list, those that have members themselves closed.
function Members({ value, open = false }) {
  const [shown, setShown] = useState(PAGE);
  const members = Object.entries(value);
  return html`<ul class="tree-members">
    ${members.slice(0, shown).map(([name, item]) => html`<li key=${name}><${Member} name=${name} item=${item} opened=${open} /></li>`)}
    ${members.length > shown && html`<li><button type="button" class="text-button" onClick=${() => setShown(shown + PAGE)}>${plural(members.length - shown, "more member")}</button></li>`}
  </ul>`;
}

function Member({ name, item, opened }) {
  const [open, setOpen] = useState(opened);
  if (item === null || typeof item !== "object" || Object.keys(item).length === 0)
    return html`<span class="tree-name">${name}</span> <span class="tree-value" data-type=${typeof item}>${item === null ? "null" : cellText(item)}</span>`;
  const table = tableOf(item);
  const size = table
    ? plural(table.rows.length, "row")
    : plural(Object.keys(item).length, "member");
  return html`<button type="button" class="tree-open" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name="chevronRight" /><span class="tree-name">${name}</span> <span class="tree-size">${size}</span></button>
    ${open && (table ? html`<${SortableTable} ...${table} label=${name} />` : html`<${Members} value=${item} />`)}`;
}
