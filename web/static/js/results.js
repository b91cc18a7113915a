// Values that tools returned: which of them a turn shows itself, and their form as tables; the
// kinds are those of src/selfeng/core/result.py.

import { conversationPath } from "./conversations.js";
import { fileSize } from "./format.js";
import { planOf } from "./plan.js";
import { locale, t } from "./texts.js";

// Bytes of JSON up to which the answer says a value itself, as LONG in src/selfeng/core/result.py.
export const LONG = 400;
const FEW = 5; // items of a list, characters of a number
const MOST_COLUMNS = 100;
const LONGEST_CELL = 300;
// How a text begins that a spreadsheet would run, which a number with a sign is not; as in src/selfeng/core/result.py.
export const FORMULA = /^(?:[=@\t\r]|[+-](?!\d*\.?\d+(?:e[+-]?\d+)?$))/i;

const returned = (steps) =>
  steps
    .filter((step) => step.kind === "execute" && step.execution?.outcome === "returned")
    .map((step) => step.execution.value)
    .filter((value) => value && isShown(value));

// The answer leaves long values out. Short ones are shown beside it where that adds something: columns to sort and
// to draw, and digits to group.
const isShown = ({ kind, size, count, columns }) =>
  size > LONG ||
  (kind === "table" && count > 1 && columns.length > 1) ||
  (kind === "list" && count >= FEW) ||
  (kind === "number" && size >= FEW);

// References to the values that a turn shows, of a plan those that no other step needed; each once.
export function longResults(turn) {
  const parts = planOf(turn.steps)?.parts ?? [];
  const needed = new Set(parts.flatMap((part) => part.needs));
  const found = [turn, ...parts.filter((part) => !needed.has(part.id))].flatMap((p) =>
    returned(p.steps),
  );
  return [...new Map(found.map((value) => [value.sha256, value])).values()];
}

// Refers to what the last tool of a turn returned, null if it returned nothing that is kept.
export const lastValue = ({ steps }) =>
  steps.findLast((step) => step.kind === "execute" && step.execution?.value)?.execution.value ??
  null;

export const addressOfResult = (conversationId, { sha256 }, format = "") =>
  `${conversationPath(conversationId)}/results/${sha256}${format && `?format=${format}`}`;

export function shapeWords({ kind, count, columns = [], size }) {
  const known = ["table", "list", "json", "text", "number"].includes(kind) ? kind : "other";
  return t(`value-${known}`, { count, columns: columns.length, size: fileSize(size) });
}

// The value of a JSON text, or `otherwise` if it is none.
export function parsed(text, otherwise = undefined) {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

// JSON whose whole numbers stay exact: those that JavaScript would round stay as they were written.
export function parseExactly(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (key, value, context) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value,
  );
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const all = (items, test) => items.length > 0 && items.every(test);

// The value as {columns, rows}, or null if it is no table and no list of plain values.
export function tableOf(value) {
  const table = tableIn(value);
  return table && table.columns.length > 0 && table.columns.length <= MOST_COLUMNS ? table : null;
}

function tableIn(value) {
  if (Array.isArray(value)) {
    if (all(value, isObject)) {
      const columns = [...new Set(value.flatMap(Object.keys))];
      return {
        columns,
        rows: value.map((row) =>
          columns.map((name) => (Object.hasOwn(row, name) ? row[name] : null)),
        ),
      };
    }
    if (all(value, (row) => Array.isArray(row) && row.length > 1 && row.length === value[0].length))
      return titled(value);
    if (all(value, (item) => !isObject(item) && !Array.isArray(item)))
      return { columns: ["value"], rows: value.map((item) => [item]) };
    return null;
  }
  const parts = isObject(value) ? Object.values(value) : [];
  if (parts.length < 2 || !parts.every((p) => Array.isArray(p) && p.length === parts[0].length))
    return null;
  return { columns: Object.keys(value), rows: parts[0].map((_, n) => parts.map((p) => p[n])) };
}

// Rows as lists: the first names the columns if it has only texts, and a later one has others.
function titled([head, ...rest]) {
  const isText = (cell) => typeof cell === "string";
  const names = head.every(isText) && new Set(head).size === head.length;
  return names && rest.some((row) => !row.every(isText))
    ? { columns: head, rows: rest }
    : { columns: head.map((_, n) => String(n + 1)), rows: [head, ...rest] };
}

const rank = (cell) => (cell == null ? 2 : typeof cell === "number" ? 0 : 1);

// The rows by one column: numbers before texts, empty cells last in both directions.
export function sortRows(rows, column, down) {
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    if (a == null || b == null) return rank(a) - rank(b);
    if (rank(a) !== rank(b)) return sign * (rank(a) - rank(b));
    if (typeof a === "number") return sign * (a - b);
    return sign * cellText(a).localeCompare(cellText(b), undefined, { numeric: true });
  };
  return [...rows].sort((a, b) => compare(a[column], b[column]));
}

// A cell as text; a fraction has six significant digits, or two places.
export function cellText(cell) {
  if (cell == null) return "";
  if (typeof cell === "object") return jsonText(cell);
  if (typeof cell !== "number" || Number.isInteger(cell)) return String(cell);
  const size = Math.abs(cell);
  if (size < 1e-4 || size >= 1e15) return String(Number(cell.toPrecision(6)));
  const places = Math.max(2, size >= 1 ? 6 - String(Math.trunc(size)).length : 6);
  return String(Number(cell.toFixed(places)));
}

// The part of a cell that is drawn.
export function cutText(cell) {
  const text = cellText(cell);
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

// Columns of numbers that are no amounts.
const NAMES = /(^|[\W_])(id|no|nr|code|zip|plz|year|jahr)$/i;

// How the numbers of a column are written: grouped, and each with as many decimals as any of them.
export function formatOf(name, cells) {
  const numbers = cells.filter(Number.isFinite);
  const isPlain = (n) => n === 0 || (Math.abs(n) >= 1e-4 && Math.abs(n) < 1e15);
  if (!numbers.every(isPlain)) return cutText;
  const isYear = numbers.every((n) => Number.isInteger(n) && n > 999 && n < 3000);
  const decimals = numbers.reduce(
    (most, n) => Math.max(most, cellText(n).split(".")[1]?.length ?? 0),
    0,
  );
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    useGrouping: !isYear && !NAMES.test(name),
  });
  return (cell) => (Number.isFinite(cell) ? format.format(cell) : cutText(cell));
}

// A value that is nested too deeply is only hinted at.
export function jsonText(value, indent) {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    return "…";
  }
}

// A number for people: grouped, with at most six significant digits of a fraction. Whole numbers that JavaScript would
// round come as texts.
export function numberText(value) {
  if (typeof value === "string") return new Intl.NumberFormat(locale).format(BigInt(value));
  const size = Math.abs(value);
  const scientific = value !== 0 && (size < 1e-4 || size >= 1e15);
  return new Intl.NumberFormat(locale, {
    notation: scientific ? "scientific" : "standard",
    ...(scientific
      ? { maximumSignificantDigits: 6 }
      : { maximumFractionDigits: size >= 1 ? 4 : 6 }),
  }).format(value);
}

// The rows that have every word in some cell, in any case.
export function filterRows(rows, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const cells = row.map((cell) => cellText(cell).toLowerCase());
    return words.every((word) => cells.some((cell) => cell.includes(word)));
  });
}

// Rows as a list of objects; columns of the same name stay apart.
export const objectsOf = ({ columns, rows }) =>
  rows.map((row) => Object.fromEntries(columns.map((name, n) => [name, row[n]])));

// A table for a spreadsheet's clipboard; texts that it would run as formulas begin with an apostrophe.
export function tabSeparated({ columns, rows }) {
  const cell = (value) => {
    const text = value != null && typeof value === "object" ? jsonText(value) : `${value ?? ""}`;
    const plain = text.replace(/[\t\r\n]+/g, " ");
    return typeof value === "string" && FORMULA.test(text) ? `'${plain}` : plain;
  };
  return [columns, ...rows].map((row) => row.map(cell).join("\t")).join("\n");
}
