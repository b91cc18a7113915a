// Every word that a person sees comes from the catalogue.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { strays } from "./strays.js";

const SCRIPTS = new URL("../../web/static/", import.meta.url);

// Words to the model stay as they are: the offline model knows them.
const REQUESTS = ["js/examples.js", "js/projects.js"];

test("a view's code holds no words of its own", () => {
  const found = readdirSync(SCRIPTS, { recursive: true })
    .filter((name) => name.endsWith(".js") && !REQUESTS.includes(name))
    .flatMap((name) =>
      strays(readFileSync(new URL(name, SCRIPTS), "utf8")).map((words) => `${name}: ${words}`),
    );
  assert.deepEqual(found, []);
});

test("words in a view's code are found wherever they stand", () => {
  const source = [
    'const a = html`<p class="some words" title="A title">Text of ${name}<b>!</b></p>`;',
    'const b = { label: open ? "Show less" : t("more", { unit: "Two words" }) };',
    'if (event.key === "Enter") throw new Error(`no such ${thing} here`);',
    "const c = `${n} tests passed`;",
  ].join("\n");
  assert.deepEqual(strays(source), [
    'title="A title"',
    "Text of …",
    "Show less",
    "Two words",
    "… tests passed",
  ]);
});
