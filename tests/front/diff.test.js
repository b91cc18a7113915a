import assert from "node:assert/strict";
import test from "node:test";

import { diffLines, folded } from "../../web/static/js/diff.js";

const SIGNS = { same: " ", removed: "-", added: "+" };
const shown = (before, after) =>
  diffLines(before, after).map(({ change, text }) => SIGNS[change] + text);

test("a changed line is removed and added in its place", () => {
  assert.deepEqual(diffLines("def f(x):\n    return x\n", "def f(x):\n    return -x\n"), [
    { change: "same", text: "def f(x):" },
    { change: "removed", text: "    return x" },
    { change: "added", text: "    return -x" },
  ]);
});

test("added, removed and moved lines keep what both have", () => {
  assert.deepEqual(shown("a\nb\nc", "a\nx\nb\nc\ny"), [" a", "+x", " b", " c", "+y"]);
  assert.deepEqual(shown("a\nb\nc", "b"), ["-a", " b", "-c"]);
  assert.deepEqual(shown("a\nb", "b\na"), ["-a", " b", "+a"]);
});

test("white space at the end of a source is no change", () => {
  assert.deepEqual(shown("a\n\n", "a"), [" a"]);
});

test("both sources can be read back from a diff", () => {
  const before = "import re\n\n\ndef f(x):\n    y = x\n    return y";
  const after = "\n\ndef f(x):\n    # why\n    return x\n\n\ndef g():\n    pass";
  const lines = diffLines(before, after);
  const without = (change) =>
    lines
      .filter((l) => l.change !== change)
      .map((l) => l.text)
      .join("\n");
  assert.deepEqual([without("added"), without("removed")], [before, after]);
});

test("long unchanged stretches are folded", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8"];
  const lines = folded(diffLines(before.join("\n"), before.with(3, "x").join("\n")));
  assert.deepEqual(lines, [
    { change: "skipped", count: 1 },
    { change: "same", text: "2" },
    { change: "same", text: "3" },
    { change: "removed", text: "4" },
    { change: "added", text: "x" },
    { change: "same", text: "5" },
    { change: "same", text: "6" },
    { change: "skipped", count: 2 },
  ]);
});

test("sources that are the same fold to one stretch", () => {
  assert.deepEqual(folded(diffLines("a\nb\nc", "a\nb\nc")), [{ change: "skipped", count: 3 }]);
});
