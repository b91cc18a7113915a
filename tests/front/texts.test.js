import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import "./stages.js";
import { FluentResource } from "@fluent/bundle";
import { STAGES } from "../../web/static/js/stages.js";
import { hasText, rich, t } from "../../web/static/js/texts.js";
import { catalogueOf } from "./texts.js";

const SCRIPTS = new URL("../../web/static/", import.meta.url);

// Names of the variables in a message's pattern.
function variables(node, found = new Set()) {
  if (node?.type === "var") found.add(node.name);
  if (node && typeof node === "object") Object.values(node).forEach((one) => variables(one, found));
  return found;
}

const messages = (language) =>
  Object.fromEntries(
    new FluentResource(catalogueOf(language)).body.map((one) => [
      one.id,
      [...variables(one.value)].sort(),
    ]),
  );

test("both languages have the same messages with the same variables, and no line is junk", () => {
  assert.deepEqual(messages("de"), messages("en"));
  for (const language of ["en", "de"]) {
    const lines = catalogueOf(language).match(/^[a-zA-Z][\w-]* =/gm);
    assert.equal(new Set(lines).size, lines.length, `a message of ${language} is there twice`);
    assert.equal(Object.keys(messages(language)).length, lines.length);
  }
});

test("every message that the code names exists, and every message is named", () => {
  const code = readdirSync(SCRIPTS, { recursive: true })
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(new URL(name, SCRIPTS), "utf8").replace(/^\s*\/\/.*$/gm, ""))
    .join("\n");
  const named = [...code.matchAll(/\b(?:t|rich|words|hasText)\(\s*"([^"]+)"/g)].map((m) => m[1]);
  assert.deepEqual(
    named.filter((id) => !hasText(id)),
    [],
  );
  const quoted = new Set([...code.matchAll(/["'`]([a-z][\w-]*)["'`]/g)].map((m) => m[1]));
  const begun = [...code.matchAll(/`([a-z][\w-]*-)\$\{/g)].map((m) => m[1]);
  const isNamed = (id) => quoted.has(id) || begun.some((start) => id.startsWith(start));
  assert.deepEqual(
    Object.keys(messages("en")).filter((id) => !isNamed(id) && !/^(gone|login|page)-/.test(id)),
    [],
  );
});

test("every stage has a title and says what goes on", () => {
  const ids = Object.keys(STAGES).flatMap((name) => [`step-${name}`, `now-${name}`]);
  assert.deepEqual(
    ids.filter((id) => !hasText(id)),
    [],
  );
});

test("a message with elements is a list of children", () => {
  assert.deepEqual(rich("backend-other", {}), [t("backend-other")]);
});

// The modules that a module loads before anything else, without those that load later.
function imported(url, modules = new Map()) {
  if (modules.has(url.href)) return modules;
  const code = readFileSync(url, "utf8").replace(/^\s*\/\/.*$/gm, "");
  modules.set(url.href, code);
  for (const [, name] of code.matchAll(/(?:from|^import)\s+"(\.[^"]+)"/gm))
    imported(new URL(name, url), modules);
  return modules;
}

test("what loads at first names no message that loads later", () => {
  const code = [...imported(new URL("script.js", SCRIPTS)).values()].join("\n");
  const later = catalogueOf("en").split("### Loaded with what js/views/later.js has")[1];
  const quoted = new Set([...code.matchAll(/["'`]([a-z][\w-]*)["'`]/g)].map((m) => m[1]));
  const begun = [...code.matchAll(/`([a-z][\w-]*-)\$\{/g)].map((m) => m[1]);
  const ids = [...later.matchAll(/^([a-z][\w-]*) =/gm)].map((m) => m[1]);
  assert.ok(ids.length > 100);
  assert.deepEqual(
    ids.filter((id) => quoted.has(id) || begun.some((start) => id.startsWith(start))),
    [],
  );
});
