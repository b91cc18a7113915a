// What the views wear is what the sheets define, once.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const STATIC = new URL("../../web/static/", import.meta.url);
const read = (folder, ending) =>
  readdirSync(new URL(folder, STATIC))
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(new URL(folder + name, STATIC), "utf8"));
const sheets = read("css/", ".css").map((css) => css.replace(/\/\*[\s\S]*?\*\//g, ""));
const views = [...read("js/", ".js"), ...read("js/views/", ".js")];

function topLevelSelectors(css) {
  const found = [];
  let depth = 0;
  let text = "";
  for (const c of css) {
    if (c === "{" && depth++ === 0) found.push(text.trim().replace(/\s+/g, " "));
    if (c === "}") depth -= 1;
    text = "{};".includes(c) ? "" : text + c;
  }
  return found.filter((selector) => !selector.startsWith("@"));
}

test("each class that a view uses has a style", () => {
  const styled = new Set(
    sheets.flatMap((css) => [...css.matchAll(/\.([a-z][\w-]*)/g)]).map((m) => m[1]),
  );
  const used = views
    .flatMap((js) => [...js.matchAll(/\bclass="([^"$]+)"/g)])
    .flatMap((m) => m[1].split(/\s+/));
  assert.ok(used.length > 100);
  assert.deepEqual([...new Set(used)].filter((name) => !styled.has(name)).sort(), []);
});

test("each top-level rule stands once", () => {
  const all = sheets.flatMap(topLevelSelectors);
  assert.ok(all.length > 200);
  assert.deepEqual(
    all.filter((selector, i) => all.indexOf(selector) !== i),
    [],
  );
});
