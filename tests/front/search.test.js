import assert from "node:assert/strict";
import test from "node:test";

import { matching } from "../../web/static/js/search.js";

const tools = [
  { name: "word_count", description: "Count the words of a text." },
  { name: "reverse_string", description: "Turn a text around." },
  { name: "flip_list", description: "Reverse a list." },
  { name: "add", description: "Sum of two numbers." },
];
const names = (search) => matching(tools, search).map((t) => t.name);

test("without words all tools are listed by name", () => {
  assert.deepEqual(
    [names(""), names("  _ ")],
    [
      ["add", "flip_list", "reverse_string", "word_count"],
      ["add", "flip_list", "reverse_string", "word_count"],
    ],
  );
});

test("tools that match by name come before those that match by description", () => {
  assert.deepEqual(names("REVERSE"), ["reverse_string", "flip_list"]);
});

test("every word has to occur, in name or description", () => {
  assert.deepEqual(
    [names("reverse list"), names("text count"), names("reverse numbers")],
    [["flip_list"], ["word_count"], []],
  );
});

test("underscores separate words", () => {
  assert.deepEqual(names("string_rev"), ["reverse_string"]);
});

test("searching leaves the list as it was", () => {
  const copy = structuredClone(tools);
  matching(tools, "");
  assert.deepEqual(tools, copy);
});
