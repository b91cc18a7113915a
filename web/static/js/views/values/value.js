// A value by its kind: a table with its chart, a tree, a number, or a text; to copy, to download and to open wide.

import { useMemo, useRef, useState } from "preact/hooks";
import { chartable } from "../../charts.js";
import { lazy } from "../../lazy.js";
import {
  cellText,
  filterRows,
  FORMULA,
  jsonText,
  numberText,
  objectsOf,
  sortRows,
  tableOf,
  tabSeparated,
} from "../../results.js";
import { html, Icon, t } from "../../view.js";
import { CopyButton } from "./code.js";
import { DataTable } from "./data-table.js";
import { FoldedText } from "./folded-text.js";
import { Tree } from "./tree.js";
import { Viewer } from "./viewer.js";
import { IconButton, SearchField, Switch } from "../parts/controls.js";

const TableChart = lazy(async () => (await import("./chart.js")).TableChart);
const FILTERED = 8; // rows from which a table has a filter

// `whole`: addresses of the value as the server or the file has it, by csv, json and text. `wide`:
// it can be opened wide.
export function Value(props) {
  const { value, number } = props;
  const table = useMemo(() => props.table ?? tableOf(value), [value, props.table]);
  if (table) return html`<${TableValue} ...${props} table=${table} />`;
  if (number && typeof value !== "object") return html`<${NumberValue} ...${props} />`;
  if (value !== null && typeof value === "object") return html`<${TreeValue} ...${props} />`;
  return html`<${TextValue} ...${props} />`;
}

// The head of a value: its shape, what can be done with it, and a dialog that shows the same with more room.
function Head({ props, copied, children }) {
  const [open, setOpen] = useState(false);
  const { shape, name, wide, filled } = props;
  return html`<header class="value-head">
    ${!filled && html`<span class="value-shape">${shape}</span>`}
    <div class="value-tools">
      ${children}
      <${CopyButton} text=${copied} label=${t("value-copied")} />
      ${
        wide &&
        html`<${IconButton}
          icon="open"
          label=${t("value-wide")}
          data-testid="open-wide"
          onClick=${() => setOpen(true)}
        />`
      }
    </div>
    ${
      open &&
      html`<${Viewer} title=${shape} close=${() => setOpen(false)}
        ><section class="value" data-filled>
          <${Value} ...${props} name=${name} wide=${false} filled /></section
      ><//>`
    }
  </header>`;
}

function Download({ kind, name, href, make }) {
  const form = kind === "text" ? "txt" : kind;
  const words = html`<${Icon} name="download" />${t(`value-as-${kind}`)}`;
  const testid = `${name}-${kind}`;
  return href
    ? html`<a class="button small" data-testid=${testid} href=${href} download=${`${name}.${form}`}
        >${words}</a
      >`
    : html`<button class="button small" data-testid=${testid} onClick=${make}>${words}</button>`;
}

function TableValue(props) {
  const { table, shape, name, whole = {}, filled } = props;
  const { columns, rows } = table;
  const [order, setOrder] = useState({ column: null, down: false });
  const [filter, setFilter] = useState("");
  const [drawn, setDrawn] = useState(false);
  const canDraw = useMemo(() => chartable(table) !== null, [table]);
  const found = useMemo(() => filterRows(rows, filter), [rows, filter]);
  const sorted = useMemo(
    () => (order.column === null ? found : sortRows(found, order.column, order.down)),
    [found, order],
  );
  const changed = sorted !== rows;
  const shown = useMemo(() => ({ columns, rows: sorted }), [columns, sorted]);
  const saveCsv = async () => {
    const { csvOf } = await import("../../csv.js");
    save(`${name}.csv`, csvOf(shown, FORMULA), "text/csv");
  };
  const saveJson = () => save(`${name}.json`, jsonText(objectsOf(shown), 2), "application/json");
  return html`<${Head} props=${props} copied=${() => tabSeparated(shown)}>
      ${
        canDraw &&
        html`<${Switch}
          label=${t("value-view")}
          value=${drawn ? "chart" : "table"}
          choose=${(view) => setDrawn(view === "chart")}
          of=${["table", "chart"]}
        />`
      }
      ${
        rows.length >= FILTERED &&
        html`<${SearchField}
          class="input small"
          data-testid="filter-rows"
          label=${t("value-filter")}
          value=${filter}
          set=${setFilter}
        />`
      }
      <${Download} kind="csv" name=${name} href=${!changed && whole.csv} make=${saveCsv} />
      <${Download} kind="json" name=${name} href=${!changed && whole.json} make=${saveJson} />
    <//>
    <p class="value-found" role="status" data-testid="rows-found">
      ${filter.trim() ? t("value-found", { found: found.length, count: rows.length }) : ""}
    </p>
    ${
      drawn
        ? html`<${TableChart} key=${filter} table=${shown} label=${shape} tall=${filled} />`
        : html`<${DataTable}
            ...${{ columns, order, setOrder, filled }}
            rows=${sorted}
            label=${shape}
          />`
    }`;
}

function NumberValue(props) {
  const { value } = props;
  const [exact, setExact] = useState(false);
  const rounded = numberText(value);
  const digits = (text) => text.replace(/\D/g, "");
  const same = digits(rounded) === digits(String(value));
  return html`<${Head} props=${{ ...props, wide: false }} copied=${String(value)} />
    <div class="number">
      <output class="number-value" data-testid="number">${exact ? String(value) : rounded}</output>
      ${
        !same &&
        html`<button
          class="text-button"
          data-testid="exact"
          aria-pressed=${exact}
          onClick=${() => setExact(!exact)}
        >
          ${t("number-exact")}
        </button>`
      }
    </div>`;
}

function TreeValue(props) {
  const { value, name, shape, whole = {}, filled } = props;
  const [inner, setInner] = useState(null); // a member that is shown as a table
  const back = useRef(null);
  const saveJson = () => save(`${name}.json`, jsonText(value, 2), "application/json");
  const leave = () => setInner(null);
  if (inner)
    return html`<div class="value-crumb">
        <button class="text-button" data-testid="back-to-tree" ref=${back} onClick=${leave}>
          <${Icon} name="arrowLeft" />${t("tree-back")}</button
        ><span class="value-shape">${inner.name}</span>
      </div>
      <${Value} value=${inner.value} shape=${inner.name} name=${name} wide=${false} filled />`;
  return html`<${Head} props=${props} copied=${() => jsonText(value, 2)}>
      <${Download} kind="json" name=${name} href=${whole.json} make=${saveJson} />
    <//>
    <${Tree} value=${value} label=${shape} filled=${filled} asTable=${setInner} />`;
}

function TextValue(props) {
  const { value, name, shape, whole = {} } = props;
  const text = cellText(value ?? "null");
  const saveText = () => save(`${name}.txt`, text, "text/plain");
  return html`<${Head} props=${props} copied=${text}>
      <${Download} kind="text" name=${name} href=${whole.text} make=${saveText} />
    <//>
    <${FoldedText} text=${text} label=${shape} open=${props.filled} />`;
}

// Saves text that the page made as a file.
function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
