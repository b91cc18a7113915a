import assert from "node:assert/strict";
import test from "node:test";

import { initialState, reduce } from "../../web/static/js/reducer.js";
import { kindsOf, listed } from "../../web/static/js/search.js";

const tool = (name, more = {}) => ({
  name,
  description: "",
  signature: `${name}(value: Any) -> Any`,
  uses: 0,
  created_at: "2026-01-01T00:00:00Z",
  last_used: null,
  model: "",
  standing: "provisional",
  modules: [],
  packages: [],
  ...more,
});
const tools = [
  tool("word_count", { description: "Count the words of a text.", uses: 4, model: "gpt-4" }),
  tool("reverse_string", { description: "Turn a text around.", uses: 9 }),
  tool("flip_list", {
    description: "Reverse a list.",
    created_at: "2026-03-01T00:00:00Z",
    last_used: "2026-03-02T00:00:00Z",
  }),
  tool("add", { description: "Sum of two numbers.", last_used: "2026-02-02T00:00:00Z" }),
  tool("old", { description: "Reverse what nobody needs.", standing: "retired" }),
];
const nothing = { text: "", tools: [] };
const names = (search, { kind = "all", order = "name", found = nothing } = {}) =>
  listed(tools, { search, kind, order, found }).map((line) => line.tool.name);

test("without words all tools but the retired ones are listed by name", () => {
  const all = ["add", "flip_list", "reverse_string", "word_count"];
  assert.deepEqual([names(""), names("  _ ")], [all, all]);
  assert.deepEqual(names("", { order: "of a newer page" }), all);
});

test("tools are ordered by use, age, or the visitor's last use, and by name where that is equal", () => {
  assert.deepEqual(
    ["uses", "newest", "last"].map((order) => names("", { order })),
    [
      ["reverse_string", "word_count", "add", "flip_list"],
      ["flip_list", "add", "reverse_string", "word_count"],
      ["flip_list", "add", "reverse_string", "word_count"],
    ],
  );
});

test("tools that match by name come before those that match by description", () => {
  assert.deepEqual(names("REVERSE"), ["reverse_string", "flip_list"]);
  assert.deepEqual(names("reverse", { kind: "retired" }), ["old"]);
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

test("what the server's search found follows with its request, each tool once, for this text only", () => {
  const found = {
    text: "reverse",
    tools: [
      { name: "add", request: "Undo a sum" },
      { name: "flip_list", request: "Reverse [1, 2]" },
      { name: "old", request: "" },
      { name: "gone", request: "" },
      { name: "word_count", request: "" },
    ],
  };
  assert.deepEqual(
    listed(tools, { search: "reverse", kind: "all", order: "name", found }).map((line) => [
      line.tool.name,
      line.request,
    ]),
    [
      ["reverse_string", ""],
      ["flip_list", ""],
      ["add", "Undo a sum"],
      ["word_count", ""],
    ],
  );
  assert.deepEqual(names("reverse l", { found }), ["flip_list"]);
  assert.deepEqual(names("reverse", { found, kind: "built" }), ["word_count"]);
});

test("searching leaves the list as it was", () => {
  const copy = structuredClone(tools);
  names("", { order: "uses" });
  assert.deepEqual(tools, copy);
});

test("kinds are derived from parameters, imports, origin and use", () => {
  const signature = (parameters) => ({ signature: `f(${parameters}) -> str` });
  const some = [
    tool("a", { ...signature("input_file: str, limit: int = 3"), modules: ["csv"] }),
    tool("b", {
      ...signature("text: Optional[str] = None, *, deep: bool = False"),
      model: "gpt-4",
    }),
    tool("c", { ...signature("rows: list[dict[str, int]]"), last_used: "2026-01-01T00:00:00Z" }),
    tool("d", {
      ...signature("mode: Literal['file: str', 'b'], end: date"),
      modules: ["datetime"],
    }),
    tool("e", { packages: ["matplotlib"], standing: "retired" }),
  ];
  const kinds = ["mine", "built", "file", "text", "number", "list", "dates", "tables", "retired"];
  assert.deepEqual(
    kinds.map((kind) =>
      listed(some, { search: "", kind, order: "name", found: nothing })
        .map((line) => line.tool.name)
        .join(""),
    ),
    ["c", "b", "a", "bd", "a", "c", "d", "a", "e"],
  );
});

test("only kinds that tell tools apart are offered, and the chosen one", () => {
  assert.deepEqual(kindsOf(tools, "charts"), [
    { kind: "all", count: 4 },
    { kind: "mine", count: 2 },
    { kind: "built", count: 1 },
    { kind: "charts", count: 0 },
    { kind: "retired", count: 1 },
  ]);
  assert.deepEqual(kindsOf([tools[3]], "all"), [{ kind: "all", count: 1 }]);
});

test("an answer of the search counts for the text that is in the field", () => {
  const typed = [
    { type: "search_changed", text: "vowels" },
    { type: "tools_found", text: "vow", tools: [{ name: "add" }] },
  ].reduce(reduce, initialState);
  assert.deepEqual(typed.toolsFound, nothing);
  const found = { type: "tools_found", text: "vowels", tools: [{ name: "count_vowels" }] };
  assert.deepEqual(reduce(typed, found).toolsFound.tools, [{ name: "count_vowels" }]);
});
