// A table of any length: its rows are drawn as they come into view; columns sort it, and a cut cell can be read whole.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { columnKind } from "../../charts.js";
import { cellText, cutText, formatOf, jsonText } from "../../results.js";
import { html, Icon, t } from "../../view.js";
import { useWindow } from "../../virtual.js";
import { CopyButton } from "./code.js";
import { Region } from "../parts/controls.js";
import { Dialog } from "../parts/dialog.js";

const ROW = 33; // pixels, as --row in value.css
const SAMPLE = 200; // rows that decide how wide a column is
const NARROWEST = 4; // characters
const WIDEST = 40;

export function DataTable({ columns, rows, label, order, setOrder, filled }) {
  const scroller = useRef(null);
  const [read, setRead] = useState(null);
  const numeric = useMemo(() => columns.map((_, n) => columnKind(rows, n) === "number"), [rows]);
  const formats = useMemo(() => {
    const cells = (n) => rows.map((row) => row[n]);
    return columns.map((name, n) => (numeric[n] ? formatOf(name, cells(n)) : cutText));
  }, [columns, rows]);
  const widths = useMemo(
    () => columns.map((name, n) => widthOf(name, rows, n, formats[n])),
    [formats],
  );
  const { rows: drawn, after } = useWindow({ count: rows.length, size: ROW, scroller });
  useEffect(() => {
    scroller.current.scrollTop = 0;
  }, [order]);
  const press = (column) =>
    setOrder((now) => ({ column, down: now.column === column && !now.down }));
  const direction = (n) => (order.column !== n ? "none" : order.down ? "descending" : "ascending");
  const total = `calc(${widths.reduce((sum, width) => sum + width, 0)}ch + ${widths.length * 33}px)`;
  const space = (key, height) =>
    html`<tr key=${key} aria-hidden="true">
      <td class="gap" colspan=${columns.length} style=${{ height: `${height}px` }}></td>
    </tr>`;
  const cell = (row, index) => (value, n) => {
    const text = formats[n](value);
    const isCut = (numeric[n] ? text : cellText(value)).length > widths[n];
    return html`<td key=${n} data-numeric=${numeric[n]}>
      ${
        isCut
          ? html`<button
              class="cell-more"
              onClick=${() => setRead({ name: columns[n], value, index })}
            >
              ${text}
            </button>`
          : text
      }
    </td>`;
  };
  return html`<${Region}
      class="table-scroll value-table"
      role="group"
      label=${label}
      data-filled=${filled}
      ref=${scroller}
    >
      <table
        style=${{ width: `max(${total}, min(100%, ${total} * 1.6))` }}
        aria-rowcount=${rows.length + 1}
      >
        <colgroup>
          ${widths.map(
            (width, n) => html`<col key=${n} style=${{ width: `calc(${width}ch + 33px)` }} />`,
          )}
        </colgroup>
        <thead>
          <tr aria-rowindex="1">
            ${columns.map(
              (name, n) =>
                html`<th key=${n} scope="col" aria-sort=${direction(n)} data-numeric=${numeric[n]}>
                  <button
                    class="sort"
                    title=${t("value-sort", { column: name })}
                    onClick=${() => press(n)}
                  >
                    <span class="sort-name">${name}</span
                    ><${Icon}
                      name=${
                        { ascending: "arrowUp", descending: "arrowDown" }[direction(n)] ?? "order"
                      }
                    />
                  </button>
                </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${drawn.map(({ index, gap }) => [
            gap > 0 && space(`before ${index}`, gap),
            html`<tr key=${index} data-index=${index} aria-rowindex=${index + 2}>
              ${rows[index].map(cell(rows[index], index))}
            </tr>`,
          ])}
          ${after > 0 && space("after", after)}
        </tbody>
      </table>
      ${rows.length === 0 && html`<p class="step-note">${t("value-no-rows")}</p>`}
    <//>
    ${read && html`<${Reader} ...${read} close=${() => setRead(null)} />`}`;
}

function widthOf(name, rows, n, format) {
  const longest = rows
    .slice(0, SAMPLE)
    .reduce((most, row) => Math.max(most, format(row[n]).length), name.length + 3);
  return Math.min(WIDEST, Math.max(NARROWEST, longest));
}

// The full value of a cell that its row cuts.
export function Reader({ name, value, close }) {
  const text = value !== null && typeof value === "object" ? jsonText(value, 2) : cellText(value);
  const copy = html`<${CopyButton} text=${text} label=${t("value-copied")} />`;
  return html`<${Dialog} kind="reader" title=${name} testid="reader" tools=${copy} close=${close}>
    <pre class="value-text" tabindex="0" aria-label=${name}>
${text.slice(0, LONGEST_READ)}${text.length > LONGEST_READ ? "…" : ""}</pre>
  <//>`;
}

const LONGEST_READ = 50_000;
