// A JSON value as a tree: its rows are drawn as they come into view, and the arrow keys move through it.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cellText, cutText, tableOf } from "../../results.js";
import { branches, found, treeMove, treeRows } from "../../tree.js";
import { html, Icon, t } from "../../view.js";
import { rowAt, useWindow } from "../../virtual.js";
import { Reader } from "./data-table.js";
import { SearchField } from "../parts/controls.js";

const ROW = 28; // pixels, as in value.css
const FEW = 12; // members of a value that are open from the start
const DEEPEST = 12; // levels that are indented

// `asTable({name, value})` shows a member that is a table as one.
export function Tree({ value, label, filled, asTable }) {
  const scroller = useRef(null);
  const [open, setOpen] = useState(() => firstOpen(value));
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const [read, setRead] = useState(null);
  const moved = useRef(false);
  const only = useMemo(() => (search.trim() ? found(value, search.trim()) : null), [value, search]);
  const rows = useMemo(() => treeRows(value, open, only), [value, open, only]);
  const current = Math.min(at, rows.length - 1);
  const { rows: drawn, after, show } = useWindow({ count: rows.length, size: ROW, scroller });
  const toggle = (key) =>
    setOpen((now) =>
      now.has(key) ? new Set([...now].filter((k) => k !== key)) : new Set(now).add(key),
    );
  const press = (event) => {
    if (event.target.closest("button")) return;
    const move = treeMove(rows, current, event.key);
    if (!move) return;
    event.preventDefault();
    if (move.toggle !== undefined) toggle(move.toggle);
    if (move.read !== undefined) setRead(rows[current]);
    if (move.index === undefined) return;
    moved.current = true;
    setAt(move.index);
    show(move.index);
  };
  useLayoutEffect(() => {
    if (!moved.current) return;
    const row = rowAt(scroller.current, current);
    if (!row) return; // not drawn yet; it is after the scroll
    moved.current = false;
    row.focus({ preventScroll: true });
  });
  const choose = (row, index) => {
    setAt(index);
    if (row.size > 0) toggle(row.key);
    else if (cellText(row.value).length > 60) setRead(row);
  };
  const everything = useMemo(() => rows.some((row) => row.size > 0), [rows]);
  return html`${
      everything &&
      html`<div class="tree-tools">
        <${SearchField}
          class="input small"
          data-testid="filter-tree"
          label=${t("tree-filter")}
          value=${search}
          set=${setSearch}
        />
        <button
          class="text-button"
          data-testid="tree-open-all"
          onClick=${() => setOpen(branches(value))}
        >
          ${t("tree-open-all")}
        </button>
        <button
          class="text-button"
          data-testid="tree-close-all"
          onClick=${() => setOpen(new Set())}
        >
          ${t("tree-close-all")}
        </button>
      </div>`
    }
    <div class="value-tree" data-filled=${filled} ref=${scroller}>
      <ul role="tree" aria-label=${label} onKeyDown=${press}>
        ${drawn.map(
          ({ index, gap }) =>
            html`<${Row}
              key=${rows[index].key}
              row=${rows[index]}
              ...${{ index, gap, choose, asTable }}
              current=${index === current}
            />`,
        )}
      </ul>
      <div style=${{ height: `${after}px` }}></div>
      ${rows.length === 0 && html`<p class="step-note">${t("tree-nothing")}</p>`}
    </div>
    ${
      read &&
      html`<${Reader}
        key=${read.key}
        name=${read.name}
        value=${read.value}
        close=${() => setRead(null)}
      />`
    }`;
}

const firstOpen = (value) =>
  Object.keys(value).length <= FEW
    ? new Set(
        treeRows(value, new Set())
          .filter((row) => row.size > 0 && row.size <= FEW)
          .map((row) => row.key),
      )
    : new Set();

function Row({ row, index, gap, current, choose, asTable }) {
  const { name, value, depth, size } = row;
  const table = useMemo(() => (size > 1 ? tableOf(value) : null), [value]);
  const style = {
    marginTop: `${gap}px`,
    paddingInlineStart: `${12 + 20 * (Math.min(depth, DEEPEST) - 1)}px`,
  };
  const state = size > 0 ? { "aria-expanded": row.open ? "true" : "false" } : {};
  return html`<li
    class="tree-line"
    role="treeitem"
    data-index=${index}
    data-testid="tree-line"
    style=${style}
    tabindex=${current ? 0 : -1}
    aria-level=${depth}
    aria-posinset=${row.position}
    aria-setsize=${row.of}
    ...${state}
    onClick=${() => choose(row, index)}
  >
    <span class="tree-sign">${size > 0 && html`<${Icon} name="chevronRight" />`}</span>
    <span class="tree-name">${name}</span>
    ${
      size > 0
        ? html`<span class="tree-size"
            >${t(table ? "tree-rows" : Array.isArray(value) ? "tree-items" : "tree-members", {
              count: table ? table.rows.length : size,
            })}</span
          >`
        : html`<span class="tree-value" data-type=${typeof value}>${leafText(value)}</span>`
    }
    ${
      table &&
      html`<button
        class="text-button"
        data-testid="as-table"
        tabindex=${current ? 0 : -1}
        onClick=${(event) => (event.stopPropagation(), asTable({ name, value }))}
      >
        <${Icon} name="table" />${t("view-table")}
      </button>`
    }
  </li>`;
}

const leafText = (value) =>
  value === null
    ? "null"
    : typeof value === "object"
      ? Array.isArray(value)
        ? "[]"
        : "{}"
      : cutText(value);
