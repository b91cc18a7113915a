import assert from "node:assert/strict";
import test from "node:test";

import {
  argumentsOf,
  entriesOf,
  fieldOf,
  labelOf,
  typeWords,
} from "../../web/static/js/calling.js";

const or = (...types) => ({ anyOf: [...types, "null"].map((type) => ({ type })) });
const schema = {
  text: or("string"),
  input_file: or("string"),
  times: or("integer"),
  rate: or("integer", "number"),
  deep: or("boolean"),
  mode: { enum: ["fast", "slow", null] },
  rows: { anyOf: [{ type: "array", items: {} }, { type: "null" }] },
  any: {},
};
const needed = (name) => ({ name, required: true, default: null });
const optional = (name, text) => ({ name, required: false, default: text });
const read = (parameters, entries) => argumentsOf(parameters, schema, entries);

test("each parameter has the field of its type", () => {
  const kinds = Object.keys(schema).map((name) => fieldOf({ name }, schema[name]).kind);
  assert.deepEqual(kinds, ["text", "file", "number", "number", "switch", "choice", "json", "json"]);
});

test("a form holds what a request gave, but for what its fields can't", () => {
  const names = Object.keys(schema).map(needed);
  const given = {
    text: "a",
    times: 3,
    rate: 0.5,
    deep: true,
    mode: "slow",
    rows: [1],
    any: { x: "1" },
  };
  const entries = entriesOf(names, schema, JSON.stringify({ ...given, gone: 1 }));
  assert.deepEqual(entries, {
    text: "a",
    times: "3",
    rate: "0.5",
    deep: true,
    mode: "1",
    rows: "[1]",
    any: '{"x":"1"}',
  });
  assert.deepEqual(
    read(
      names.filter(({ name }) => name in given),
      entries,
    ).given,
    given,
  );
  assert.deepEqual(entriesOf(names, schema, '{"text": [1], "mode": "odd"}'), {});
});

test("a filled form is read as the types of its fields", () => {
  const entries = {
    text: "12",
    input_file: "a.csv",
    times: "3",
    rate: "0.5",
    deep: true,
    mode: "1",
    rows: "[1, 2]",
    any: '"x"',
  };
  const expected = { ...entries, times: 3, rate: 0.5, mode: "slow", rows: [1, 2], any: "x" };
  assert.deepEqual(read(Object.keys(schema).map(needed), entries), {
    given: expected,
    problems: {},
  });
});

test("a whole number that JavaScript would round is sent as it was written", () => {
  assert.equal(
    read([needed("times")], { times: "12345678901234567891" }).given.times,
    "12345678901234567891",
  );
});

test("an untouched default is left out, and a text may be empty", () => {
  const parameters = [needed("text"), optional("times", "2"), optional("deep", "True")];
  assert.deepEqual(read(parameters, { times: "" }).given, { text: "" });
  assert.deepEqual(read(parameters, { deep: false }).given, { text: "", deep: false });
  assert.deepEqual(read([needed("deep")], {}).given, { deep: false });
});

test("what is missing or can't be read is named, field by field", () => {
  const { given, problems } = read([needed("times"), needed("rows"), needed("mode")], {
    rows: "[1",
  });
  assert.deepEqual([given, Object.keys(problems)], [{}, ["times", "rows", "mode"]]);
});

test("parameters and their types have words", () => {
  assert.deepEqual(["annual_rate", "x", "_"].map(labelOf), ["Annual rate", "X", ""]);
  const words = (annotation, schema) => typeWords(fieldOf({ name: "rate" }, schema), annotation);
  assert.deepEqual(
    [
      words("float", { type: "number" }),
      words("int", { type: "integer" }),
      words("str", { type: "string" }),
      words("bool", { type: "boolean" }),
      words("list[float]", { type: "array" }),
    ],
    ["number", "whole number", "text", "yes or no", "list[float]"],
  );
});
