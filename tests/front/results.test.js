// Long values: which of them a turn shows, and how they become tables.

import assert from "node:assert/strict";
import test from "node:test";
import {
  cellText,
  cutText,
  filterRows,
  formatOf,
  jsonText,
  longResults,
  numberText,
  objectsOf,
  parseExactly,
  shapeWords,
  sortRows,
  tableOf,
  tabSeparated,
} from "../../web/static/js/results.js";

const value = (sha256, size = 5000, rest = {}) => ({
  ...{ sha256, size, kind: "table", count: 9, columns: ["a"] },
  ...rest,
});
const ran = (...values) =>
  values.map((v) => ({ kind: "execute", execution: { outcome: "returned", value: v } }));

test("a turn shows its long values once, and leaves short ones to the answer", () => {
  const steps = [
    ...ran(value("1"), value("2", 400), value("1"), value("3", 401), null),
    { kind: "respond" },
  ];
  assert.deepEqual(
    longResults({ steps }).map((v) => v.sha256),
    ["1", "3"],
  );
});

test("short values are shown where that adds something to the answer", () => {
  const short = [
    value("table", 60, { count: 2, columns: ["a", "b"] }),
    value("row", 60, { count: 1, columns: ["a", "b"] }),
    value("list", 20, { kind: "list", count: 5, columns: [] }),
    value("pair", 20, { kind: "list", count: 2, columns: [] }),
    value("digits", 7, { kind: "number" }),
    value("digit", 2, { kind: "number" }),
    value("word", 20, { kind: "text" }),
    value("object", 300, { kind: "json" }),
  ];
  assert.deepEqual(
    longResults({ steps: ran(...short) }).map((v) => v.sha256),
    ["table", "list", "digits"],
  );
});

test("of a plan, values that led to others are not shown", () => {
  const parts = [
    { id: "rows", needs: [], steps: ran(value("1")) },
    { id: "sorted", needs: ["rows"], steps: ran(value("2")) },
    { id: "waiting", needs: ["sorted"], steps: [] },
    { id: "other", needs: [], steps: ran(value("3")) },
  ];
  const shown = longResults({ steps: [{ kind: "plan", parts }] });
  assert.deepEqual(
    shown.map((v) => v.sha256),
    ["3"],
  );
});

test("journals of older versions, without references, show nothing", () => {
  const execution = { outcome: "returned", text: "x".repeat(900) };
  assert.deepEqual(longResults({ steps: [{ kind: "execute", execution }] }), []);
});

test("rows as objects, as lists, and columns become tables", () => {
  assert.deepEqual(tableOf([{ b: 1, a: 2 }, { c: 3 }]), {
    columns: ["b", "a", "c"],
    rows: [
      [1, 2, null],
      [null, null, 3],
    ],
  });
  assert.deepEqual(
    tableOf([
      ["name", "n"],
      ["x", 1],
    ]),
    { columns: ["name", "n"], rows: [["x", 1]] },
  );
  assert.deepEqual(tableOf([[1, 2]]).columns, ["1", "2"]);
  assert.deepEqual(tableOf({ a: [1, 2], b: [3, 4] }).rows, [
    [1, 3],
    [2, 4],
  ]);
  assert.deepEqual(tableOf([3, 1]), { columns: ["value"], rows: [[3], [1]] });
  for (const other of [{ a: 1 }, [{ a: 1 }, 2], [], "text", 5, null, [[1], [2, 3]]])
    assert.equal(tableOf(other), null);
});

test("a column is sorted by its numbers, with empty cells last in both directions", () => {
  const rows = [[10], ["b"], [null], [9], ["a10"], ["a9"]];
  const sorted = (down) => sortRows(rows, 0, down).map(([cell]) => cell);
  assert.deepEqual(sorted(false), [9, 10, "a9", "a10", "b", null]);
  assert.deepEqual(sorted(true), ["b", "a10", "a9", 10, 9, null]);
});

test("fractions are rounded in cells, whole numbers never", () => {
  const shown = [1.0566882094325936, 1234567.891, 1013.37, 12345678901, 0.1 + 0.2, 1e-7 / 3];
  assert.deepEqual(shown.map(cellText), [
    "1.05669",
    "1234567.89",
    "1013.37",
    "12345678901",
    "0.3",
    "3.33333e-8",
  ]);
  assert.deepEqual([null, true, { a: [1] }, "x"].map(cellText), ["", "true", '{"a":[1]}', "x"]);
});

test("whole numbers that JavaScript would round stay as they were written", () => {
  const [number, text] = parseExactly('[12345678901234567890, "9007199254740993"]');
  assert.equal(text, "9007199254740993");
  assert.equal(String(number).slice(0, 15), "123456789012345");
});

test("a spreadsheet runs nothing that is pasted", () => {
  const table = {
    columns: ["=a", "b"],
    rows: [
      ["+x\ty", -1],
      ["-2.5", { c: 1 }],
    ],
  };
  assert.equal(tabSeparated(table), "'=a\tb\n'+x y\t-1\n-2.5\t{\"c\":1}");
});

test("the shape of a value is said in words", () => {
  assert.equal(shapeWords(value("1", 2048)), "Table, 9 rows, 1 column, 2.0 KB");
  assert.equal(
    shapeWords({ kind: "text", count: 5000, columns: [], size: 5002 }),
    "Text, 5,000 characters, 4.9 KB",
  );
});

test("a number is grouped, and rounded only where it is a fraction", () => {
  const shown = [45, 1234567.89125, 0.1 + 0.2, 1e-9, "12345678901234567890", -1234, 0];
  assert.deepEqual(shown.map(numberText), [
    "45",
    "1,234,567.8913",
    "0.3",
    "1E-9",
    "12,345,678,901,234,567,890",
    "-1,234",
    "0",
  ]);
});

test("rows are found by all words, in any cell and case", () => {
  const rows = [
    ["Anna", 1234, null],
    ["Berta", 99, { city: "Annaberg" }],
  ];
  const found = (text) => filterRows(rows, text).map(([name]) => name);
  assert.deepEqual(found("anna"), ["Anna", "Berta"]);
  assert.deepEqual(found("ANNA 99"), ["Berta"]);
  assert.deepEqual(found("  "), ["Anna", "Berta"]);
  assert.deepEqual(found("nobody"), []);
});

test("hostile names and sizes stay what they are", () => {
  const rows = JSON.parse('[{"__proto__": 1, "a": 2}, {"constructor": 3, "a": 4}]');
  const table = tableOf(rows);
  assert.deepEqual(table, {
    columns: ["__proto__", "a", "constructor"],
    rows: [
      [1, 2, null],
      [null, 4, 3],
    ],
  });
  assert.deepEqual(objectsOf(table).length, 2);
  assert.equal(cutText("x".repeat(10_000_000)).length, 301);
  let deep = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  assert.equal(jsonText(deep), "…");
});

test("the numbers of a column are grouped and have common decimals, but years and names have neither", () => {
  const written = (name, ...cells) => cells.map(formatOf(name, cells));
  assert.deepEqual(written("revenue", 1234.5, 7, null), ["1,234.5", "7.0", ""]);
  assert.deepEqual(written("count", 12000, 5), ["12,000", "5"]);
  assert.deepEqual(written("when", 1999, 2026), ["1999", "2026"]);
  assert.deepEqual(written("order_id", 100234, 7), ["100234", "7"]);
  assert.deepEqual(written("share", 1e-9, 12000), ["1e-9", "12000"]);
});
