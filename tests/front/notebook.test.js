// Notebooks as cells to show.

import assert from "node:assert/strict";
import test from "node:test";
import { readNotebook } from "../../web/static/js/notebook.js";

const read = (cells, metadata = {}) => readNotebook(JSON.stringify({ cells, metadata }));
const outputs = (...list) =>
  read([{ cell_type: "code", source: "x", outputs: list }]).cells[0].outputs;
const shown = (data) => outputs({ output_type: "display_data", data });

test("cells keep their source, count and kind", () => {
  const { language, cells, more } = read(
    [
      { cell_type: "markdown", source: ["# Title\n", "text"] },
      { cell_type: "code", source: "1 + 1", execution_count: 3, outputs: [] },
      { cell_type: "raw", source: "<b>" },
    ],
    { language_info: { name: "Python" } },
  );
  assert.deepEqual([language, more], ["python", 0]);
  assert.deepEqual(
    cells.map(({ kind, source, count }) => [kind, source, count]),
    [
      ["markdown", "# Title\ntext", null],
      ["code", "1 + 1", 3],
      ["raw", "<b>", null],
    ],
  );
});

test("streams are joined, and errors lose their colours", () => {
  const stream = (name, text) => ({ output_type: "stream", name, text });
  assert.deepEqual(
    outputs(stream("stdout", "a"), stream("stdout", ["b", "c"]), stream("stderr", "d")),
    [
      { kind: "stream", stream: "stdout", text: "abc" },
      { kind: "stream", stream: "stderr", text: "d" },
    ],
  );
  const error = { output_type: "error", traceback: ["\u001b[0;31mValueError\u001b[0m", "no"] };
  assert.deepEqual(outputs(error), [{ kind: "error", text: "ValueError\nno" }]);
  assert.equal(outputs({ output_type: "error", ename: "E", evalue: "v" })[0].text, "E: v");
});

test("the richest form of an output is shown, pictures only of known types", () => {
  assert.deepEqual(shown({ "image/png": "iVBO\nRw==", "text/plain": "<Figure>" }), [
    { kind: "picture", src: "data:image/png;base64,iVBORw==", alt: "<Figure>" },
  ]);
  assert.equal(shown({ "image/png": '" onerror="alert(1)', "text/plain": "x" })[0].kind, "text");
  assert.equal(shown({ "image/svg+xml": "<svg/>" })[0].src, "data:image/svg+xml,%3Csvg%2F%3E");
  assert.deepEqual(shown({ "text/html": ["<table>", "</table>"], "text/plain": "t" }), [
    { kind: "html", text: "<table></table>" },
  ]);
  assert.equal(shown({ "application/javascript": "alert(1)" }).length, 0);
  assert.equal(shown({ "application/json": { a: 1 } })[0].text, '{\n  "a": 1\n}');
});

test("format 3 is read, and what is no notebook is refused", () => {
  const old = {
    worksheets: [
      {
        cells: [
          { cell_type: "heading", level: 2, source: "Part" },
          {
            cell_type: "code",
            input: ["y"],
            prompt_number: 1,
            outputs: [{ output_type: "pyout", text: ["5"] }],
          },
        ],
      },
    ],
  };
  const { cells } = readNotebook(JSON.stringify(old));
  assert.equal(cells[0].source, "## Part");
  assert.deepEqual([cells[1].source, cells[1].count, cells[1].outputs[0].text], ["y", 1, "5"]);
  for (const broken of ["", "null", "5", "{"]) assert.throws(() => readNotebook(broken));
  assert.deepEqual(read([null, 5, { cell_type: {}, source: {} }]).cells[0].source, "");
});
