// JSON values as rows of a tree.

import assert from "node:assert/strict";
import test from "node:test";
import { branches, found, treeMove, treeRows } from "../../web/static/js/tree.js";

const VALUE = { a: 1, "b/c": { d: [true, null], e: "word" }, f: [], g: {} };
const names = (rows) => rows.map((row) => `${"-".repeat(row.depth)}${row.name}`);

test("only members of what is open are rows", () => {
  assert.deepEqual(names(treeRows(VALUE, new Set())), ["-a", "-b/c", "-f", "-g"]);
  const rows = treeRows(VALUE, new Set(["/b~1c", "/b~1c/d"]));
  assert.deepEqual(names(rows), ["-a", "-b/c", "--d", "---0", "---1", "--e", "-f", "-g"]);
  const [, branch, inner] = rows;
  assert.deepEqual(
    [branch.size, branch.open, inner.position, inner.of, inner.parent],
    [2, true, 1, 2, "/b~1c"],
  );
});

test("branches are found at once, and members by name and value", () => {
  assert.deepEqual([...branches(VALUE)], ["/b~1c", "/b~1c/d"]);
  assert.deepEqual([...found(VALUE, "WORD")].sort(), ["/b~1c", "/b~1c/e"]);
  assert.deepEqual(names(treeRows(VALUE, new Set(), found(VALUE, "word"))), ["-b/c", "--e"]);
  assert.deepEqual(treeRows(VALUE, new Set(), found(VALUE, "nothing like it")), []);
});

test("the arrow keys move, open and close", () => {
  const rows = treeRows(VALUE, new Set(["/b~1c"]));
  assert.deepEqual(treeMove(rows, 0, "ArrowDown"), { index: 1 });
  assert.deepEqual(treeMove(rows, 0, "ArrowUp"), { index: 0 });
  assert.deepEqual(treeMove(rows, 0, "End"), { index: rows.length - 1 });
  assert.deepEqual(treeMove(rows, 1, "ArrowRight"), { index: 2 });
  assert.deepEqual(treeMove(rows, 2, "ArrowRight"), { toggle: "/b~1c/d" });
  assert.deepEqual(treeMove(rows, 3, "ArrowLeft"), { index: 1 });
  assert.deepEqual(treeMove(rows, 1, "ArrowLeft"), { toggle: "/b~1c" });
  assert.deepEqual(treeMove(rows, 1, "Enter"), { toggle: "/b~1c" });
  assert.deepEqual(treeMove(rows, 0, "Enter"), { read: "/a" });
  assert.equal(treeMove(rows, 0, "x"), null);
});

test("large and deep values cost what is looked at", () => {
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, [n]]));
  assert.equal(treeRows(wide, new Set()).length, 50_000);
  assert.ok(branches(wide).size <= 20_000);
  let deep = [1];
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  assert.equal(treeRows(deep, new Set()).length, 1);
  assert.ok(branches(deep).size <= 101);
  const hostile = JSON.parse('{"__proto__": {"constructor": 1}}');
  assert.deepEqual(names(treeRows(hostile, branches(hostile))), ["-__proto__", "--constructor"]);
});
