// The sheets define every class of the views, once.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const STATIC = new URL("../../web/static/", import.meta.url);
const read = (folder, ending) =>
  readdirSync(new URL(folder, STATIC), { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(new URL(folder + name, STATIC), "utf8"));
const sheets = read("css/", ".css").map((css) => css.replace(/\/\*[\s\S]*?\*\//g, ""));
const views = [...read("js/", ".js"), ...read("../gallery/", ".js")];

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

test("each class that a sheet styles is worn", () => {
  const pages = readdirSync(new URL("../templates/", STATIC)).map((name) =>
    readFileSync(new URL(`../templates/${name}`, STATIC), "utf8"),
  );
  const words = new Set([...views, ...pages].join("\n").match(/[a-z][\w-]*/g));
  const styled = sheets.flatMap((css) =>
    [...css.replace(/"[^"]*"/g, "").matchAll(/\.([a-z][\w-]*)/g)].map((m) => m[1]),
  );
  assert.deepEqual(
    [...new Set(styled)].filter((name) => !words.has(name) && !/^(hljs|u)-/.test(name)),
    [],
  );
});

test("each top-level rule stands once", () => {
  const all = sheets.flatMap(topLevelSelectors);
  assert.ok(all.length > 200);
  assert.deepEqual(
    all.filter((selector, i) => all.indexOf(selector) !== i),
    [],
  );
});

// Custom spaces and sizes would be a second scale: docs/page.md says which token is for what.
const declarations = (property) =>
  readdirSync(new URL("css/", STATIC))
    .filter((name) => name !== "tokens.css")
    .flatMap((name) => {
      const css = readFileSync(new URL(`css/${name}`, STATIC), "utf8");
      const found = css.matchAll(new RegExp(`(?:^|[{;\\s])(${property})\\s*:\\s*([^;}]+)`, "g"));
      return [...found].map((m) => [`${name}: ${m[1]}: ${m[2]}`, m[2]]);
    });

const strays = (property, allowed) =>
  declarations(property)
    .filter(([, value]) => value.replace(/var\([^)]*\)/g, "").match(allowed))
    .map(([line]) => line);

test("spaces, sizes of type, radii and durations come from the tokens", () => {
  // A hairline is no space, and an icon's width in a calculation isn't either.
  const literal = /(?<![\d.])(?!1px)\d+(\.\d+)?(px|rem|em)(?![^(]*\))/;
  assert.ok(declarations("gap").length > 50);
  assert.deepEqual(strays("(?:padding|margin|gap|row-gap|column-gap)(?:-[a-z-]+)?", literal), []);
  assert.deepEqual(strays("font-size", /\d/), []);
  assert.deepEqual(strays("border(?:-[a-z]+)*-radius", /[1-9]/), []);
  assert.deepEqual(strays("(?:transition|animation)(?:-duration)?", /\b(?!0s)\d+m?s\b/), []);
});

test("nothing is smaller than 12 px, and everything is on the scale of its kind", () => {
  const tokens = readFileSync(new URL("css/tokens.css", STATIC), "utf8");
  const values = (kind, unit) =>
    [...tokens.matchAll(new RegExp(`--${kind}-[\\w]+: ([\\d.]+)${unit};`, "g"))].map((m) => +m[1]);
  const sizes = values("text", "rem").map((rem) => rem * 16);
  assert.equal(Math.min(...sizes), 12);
  for (const scale of [sizes, values("space", "px")]) {
    assert.ok(scale.length > 5);
    assert.deepEqual(
      scale,
      [...scale].sort((a, b) => a - b),
    );
  }
});
