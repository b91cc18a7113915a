import assert from "node:assert/strict";
import test from "node:test";
import { passedRows, rowsOf, valueOf } from "../../web/static/js/editing.js";

const TOOL = {
  parameters: [
    { name: "a", required: true },
    { name: "b", required: false, default: "1" },
  ],
  input_schema: { properties: { a: { type: "integer" }, b: { type: "integer" } } },
};

test("only complete rows are sent, and each has its place in the table", () => {
  const entries = [
    { given: { a: "2" }, value: "3" },
    { given: {}, value: "3" },
    { given: { a: "1" }, value: " " },
    { given: { a: "1", b: "4" }, value: "[5" },
  ];
  assert.deepEqual(rowsOf(TOOL, entries), {
    rows: [
      { arguments: { a: 2 }, value: 3 },
      { arguments: { a: 1, b: 4 }, value: "[5" },
    ],
    numbers: [0, 3],
  });
  assert.equal(valueOf('"x"'), "x");
});

test("the last tests of a verdict are those of the rows", () => {
  const tests = ["passed", "failed", "passed"].map((outcome) => ({ outcome }));
  assert.deepEqual(passedRows({ tests }, [0, 3]), { 0: false, 3: true });
  assert.deepEqual(passedRows({ tests, problem: "too slow" }, [0]), {});
  assert.deepEqual(passedRows({ tests: [] }, [0]), {});
});
