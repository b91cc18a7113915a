// The library's list: which tools it can show, in which order, and what a search finds.

import { isFileName } from "./files.js";

const byName = new Intl.Collator("en").compare;
const falling = (a, b) => (a < b ? 1 : a > b ? -1 : 0);

// By the name of the order; `last_used` is when the visitor used a tool.
const ORDERS = {
  name: () => 0,
  uses: (a, b) => b.uses - a.uses,
  newest: (a, b) => falling(a.created_at, b.created_at),
  last: (a, b) => falling(a.last_used ?? "", b.last_used ?? ""),
};
export const ORDER_NAMES = Object.keys(ORDERS);

const known = new WeakMap();

// Types of the parameters, from a signature such as "add(a: int, b: Optional[int] = 1) -> int";
// "file" for the name of one.
function typesOf(tool) {
  if (!known.has(tool)) {
    const found = tool.signature.matchAll(/[(,]\s*\*{0,2}(\w+): *(?:Optional\[)?(\w+)/g);
    known.set(
      tool,
      Array.from(found, ([, name, type]) =>
        type === "str" && isFileName(name) ? "file" : type.toLowerCase(),
      ),
    );
  }
  return known.get(tool);
}

const takes =
  (...types) =>
  (tool) =>
    typesOf(tool).some((type) => types.includes(type));

const imports =
  (...names) =>
  ({ modules, packages }) =>
    names.some((name) => modules.includes(name) || packages.includes(name));

// Filters by facts that the list has: a tool's use, its origin, its parameters, and the imports of its code.
const KINDS = {
  all: () => true,
  mine: ({ last_used: used }) => Boolean(used),
  built: ({ model }) => Boolean(model),
  file: takes("file"),
  text: takes("str", "literal"),
  number: takes("int", "float"),
  list: takes("list", "tuple", "set", "dict"),
  dates: imports("datetime", "calendar", "zoneinfo"),
  tables: imports("csv", "pandas", "openpyxl"),
  charts: imports("matplotlib", "seaborn"),
};

const isRetired = ({ standing }) => standing === "retired";

const ofKind = (tools, kind) =>
  kind === "retired"
    ? tools.filter(isRetired)
    : tools.filter((tool) => !isRetired(tool) && (KINDS[kind] ?? KINDS.all)(tool));

// The kinds that tell tools of this library apart, as {kind, count}; and the chosen one.
export function kindsOf(tools, chosen) {
  const counted = [...Object.keys(KINDS), "retired"].map((kind) => ({
    kind,
    count: ofKind(tools, kind).length,
  }));
  const all = counted[0].count;
  return counted.filter(
    ({ kind, count }) =>
      kind === "all" || kind === chosen || (count > 0 && (count < all || kind === "retired")),
  );
}

// The lines of the list, as {tool, request}. Tools with every word in name or description come
// first, at once; then those that
// the server's search found for the text, with the request that it knows them by.
export function listed(tools, { search, kind, order, found }) {
  const offered = ofKind(tools, kind);
  const words = search
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean);
  const ordered = (some) =>
    some.toSorted((a, b) => ORDERS[order]?.(a, b) || byName(a.name, b.name));
  if (words.length === 0) return ordered(offered).map((tool) => ({ tool, request: "" }));
  const all = (text) => words.every((word) => text.toLowerCase().includes(word));
  const named = offered.filter(({ name }) => all(name));
  const isNamed = new Set(named);
  const described = offered.filter(
    (tool) => !isNamed.has(tool) && all(`${tool.name} ${tool.description}`),
  );
  const atOnce = [...ordered(named), ...ordered(described)];
  return [
    ...atOnce.map((tool) => ({ tool, request: "" })),
    ...meant(offered, atOnce, found.text === search ? found.tools : []),
  ];
}

// The matches among these tools, the best first, except those that are listed.
function meant(offered, listed, found) {
  const rest = new Map(offered.map((tool) => [tool.name, tool]));
  for (const { name } of listed) rest.delete(name);
  return found
    .filter(({ name }) => rest.has(name))
    .map(({ name, request }) => ({ tool: rest.get(name), request }));
}
