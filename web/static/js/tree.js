// A JSON value as the rows of a tree: only members of what is open are looked at.

import { cellText } from "./results.js";

const MOST = 20_000; // rows that are opened or found at once
const DEEPEST = 100; // levels that are opened or searched at once

const isBranch = (value) =>
  value !== null && typeof value === "object" && Object.keys(value).length > 0;

const keyOf = (parent, name) => `${parent}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

const childrenOf = ({ key, depth }, value) => {
  const members = Object.entries(value);
  return members.map(([name, item], n) => ({
    key: keyOf(key, name), // a JSON pointer
    name,
    value: item,
    depth: depth + 1,
    position: n + 1,
    of: members.length,
    size: isBranch(item) ? Object.keys(item).length : 0,
    parent: key,
  }));
};

const ROOT = { key: "", depth: 0 };

// The rows that are seen: members of the value, and of each branch whose key is in `open`. With `only`, a set of keys,
// just those of it, all open.
export function treeRows(value, open, only = null) {
  const rows = [];
  const waiting = [...childrenOf(ROOT, value)].reverse();
  while (waiting.length > 0) {
    const row = waiting.pop();
    if (only && !only.has(row.key)) continue;
    const isOpen = row.size > 0 && (open.has(row.key) || Boolean(only));
    rows.push({ ...row, open: isOpen });
    if (isOpen) waiting.push(...childrenOf(row, row.value).reverse());
  }
  return rows;
}

// The keys of branches, level by level, as long as not too many rows are opened.
export function branches(value) {
  const keys = new Set();
  let seen = 0;
  for (const row of walk(value)) {
    seen += 1;
    if (seen > MOST) break;
    if (row.size > 0) keys.add(row.key);
  }
  return keys;
}

// The keys of members whose name or plain value has the text, and of all that they are in.
export function found(value, text) {
  const wanted = text.toLowerCase();
  const keys = new Set();
  for (const row of walk(value)) {
    const said = row.size > 0 ? row.name : `${row.name} ${cellText(row.value)}`;
    if (!said.toLowerCase().includes(wanted)) continue;
    for (let key = row.key; key && !keys.has(key); key = key.slice(0, key.lastIndexOf("/")))
      keys.add(key);
    if (keys.size > MOST) break;
  }
  return keys;
}

function* walk(value) {
  let level = childrenOf(ROOT, value);
  while (level.length > 0) {
    const next = [];
    for (const row of level) {
      yield row;
      if (row.size > 0 && row.depth < DEEPEST) next.push(row);
    }
    level = next.flatMap((row) => childrenOf(row, row.value));
  }
}

// Where a key moves the focus: the index of another row, or what to open or close.
export function treeMove(rows, index, key) {
  const row = rows[index];
  const to = (n) => ({ index: Math.max(0, Math.min(rows.length - 1, n)) });
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
      return row.size > 0 && !row.open ? { toggle: row.key } : row.open ? to(index + 1) : to(index);
    case "ArrowLeft":
      return row.open
        ? { toggle: row.key }
        : to(row.parent ? rows.findIndex((r) => r.key === row.parent) : index);
    case "Enter":
    case " ":
      return row.size > 0 ? { toggle: row.key } : { read: row.key };
    default:
      return null;
  }
}
