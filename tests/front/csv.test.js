// Tables as text: read, and written so that a spreadsheet runs nothing.

import assert from "node:assert/strict";
import test from "node:test";
import { csvOf, parseTable, tableOfText } from "../../web/static/js/csv.js";
import { FORMULA } from "../../web/static/js/results.js";

test("rows of different lengths and columns without a name become a table", () => {
  assert.deepEqual(tableOfText("a,,c\n1\n1,2,3,4\n"), {
    columns: ["a", "2", "c", "4"],
    rows: [
      ["1", "", "", ""],
      ["1", "2", "3", "4"],
    ],
  });
  assert.deepEqual(tableOfText("only\n"), { columns: ["only"], rows: [] });
  assert.deepEqual(tableOfText(""), { columns: [], rows: [] });
});

test("what is written is read again, and a formula begins with an apostrophe", () => {
  const table = {
    columns: ["=a", 'say "x"'],
    rows: [
      ["+cmd|x", -1],
      ["-2.5", null],
      ["two\nlines", { a: 1 }],
    ],
  };
  const text = csvOf(table, FORMULA);
  assert.deepEqual(parseTable(text), [
    ["'=a", 'say "x"'],
    ["'+cmd|x", "-1"],
    ["-2.5", ""],
    ["two\nlines", '{"a":1}'],
  ]);
});
