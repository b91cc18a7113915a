import assert from "node:assert/strict";
import test from "node:test";

import {
  parseSpecification,
  prettyJson,
  signatureText,
  unfenced,
} from "../../web/static/js/specification.js";

const parameter = (name, annotation, standard = null) => ({
  name,
  annotation,
  default: standard,
  description: "",
});
const spec = {
  name: "reverse",
  parameters: [parameter("text", "str"), parameter("times", "int", "1")],
  returns: "str",
};

test("a specification is read, alone or in the model's reply", () => {
  assert.deepEqual(parseSpecification(JSON.stringify(spec)), spec);
  assert.deepEqual(
    parseSpecification(JSON.stringify({ outcome: "tool", message: "", specification: spec })),
    spec,
  );
});

test("what is no specification is null", () => {
  const others = [
    "",
    "{",
    "null",
    "3",
    "[]",
    "{}",
    '{"name": "x"}',
    '{"name": 1, "parameters": []}',
    '{"outcome": "answer", "specification": null}',
  ];
  assert.deepEqual(
    others.map(parseSpecification),
    others.map(() => null),
  );
});

test("a short signature is one line, a long one has a line per parameter", () => {
  assert.equal(signatureText(spec), "reverse(text: str, times: int = 1) -> str");
  assert.equal(signatureText({ name: "now", parameters: [], returns: "str" }), "now() -> str");
  const long = {
    ...spec,
    parameters: [
      parameter("separator_between_columns", "str"),
      parameter("column_to_add_up", "str | None", "None"),
    ],
  };
  assert.equal(
    signatureText(long),
    "reverse(\n    separator_between_columns: str,\n    column_to_add_up: str | None = None,\n) -> str",
  );
});

test("JSON is indented, anything else left alone", () => {
  assert.deepEqual(
    [prettyJson('{"a":[1]}'), prettyJson("{a")],
    ['{\n  "a": [\n    1\n  ]\n}', "{a"],
  );
});

test("code is shown without its fence, also while it streams in", () => {
  const cases = [
    ["```python\nx = 1\ny = 2\n```", "x = 1\ny = 2"],
    ["Here it is:\n```python\nx = 1\n```\nDone.", "x = 1"],
    ["```python\nx = 1\ny", "x = 1\ny"],
    ["```pyth", ""],
    ["x = 1\n", "x = 1\n"],
  ];
  assert.deepEqual(
    cases.map(([text]) => unfenced(text)),
    cases.map(([, code]) => code),
  );
});
