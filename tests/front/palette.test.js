// The entries that the command palette finds, and their order.

import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import {
  entriesOf,
  filtered,
  found,
  NO_FILTER,
  pieces,
  withChoice,
} from "../../web/static/js/palette.js";
import { initialState } from "../../web/static/js/reducer.js";

const STATE = {
  ...initialState,
  conversations: [
    { id: "c1", title: "Umsätze in Köln" },
    { id: "c2", title: "Reverse the string 'hello'" },
    { id: "c3", title: "" },
  ],
  tools: [
    { name: "reverse_string", description: "Turn a text around.", uses: 1, standing: "trusted" },
    { name: "sum_csv", description: "Add up a column.", uses: 4, standing: "provisional" },
    { name: "gone", description: "", uses: 9, standing: "retired" },
  ],
  projects: [{ id: "p1", name: "sales", goal: "A report" }],
  lessons: [{ id: "l1", trigger: "dates", advice: "Use ISO." }],
};
const entries = (running = false) => entriesOf(STATE, running);
const ids = (query, recent = []) =>
  found(entries(), query, recent).flatMap((group) => group.entries.map(({ id }) => id));

test("capitals and accents don't matter, and words may stand in any order", () => {
  assert.deepEqual(ids("koln umsatze"), ["conversation c1"]);
  assert.deepEqual(ids("KÖLN"), ["conversation c1"]);
});

test("a title that begins so comes before one that has it further on, and a name's underscores part words", () => {
  assert.deepEqual(ids("reverse string"), ["tool reverse_string", "conversation c2"]);
  assert.equal(ids("csv")[0], "tool sum_csv");
});

test("letters in order are enough from three on, if they stand close together", () => {
  assert.deepEqual(ids("rv"), []);
  assert.deepEqual(ids("revstr"), ["tool reverse_string"]);
  assert.deepEqual(ids("zzz"), []);
});

test("a detail finds its entry, retired tools are never found", () => {
  assert.deepEqual(ids("around"), ["tool reverse_string"]);
  assert.deepEqual(ids("gone"), []);
});

test("without a query what was used last comes first, once", () => {
  const [first, ...others] = found(entries(), " ", ["tool sum_csv", "tool unknown"]);
  assert.deepEqual([first.kind, first.entries.map(({ id }) => id)], ["recent", ["tool sum_csv"]]);
  assert.deepEqual(
    others.map(({ kind }) => kind),
    ["conversation", "action", "tool", "project"],
  );
  assert.ok(!others.flatMap((group) => group.entries).some(({ id }) => id === "tool sum_csv"));
});

test("only commands that make sense are there", () => {
  const actions = (running) =>
    entries(running)
      .filter(({ kind }) => kind === "action")
      .map(({ key }) => key);
  assert.ok(!actions(false).includes("stop"));
  assert.ok(!actions(false).includes("export-md"));
  assert.ok(actions(true).includes("stop"));
  const open = entriesOf({ ...STATE, conversationId: "c1" }, false);
  assert.ok(open.some(({ key }) => key === "export-md"));
});

test("filters leave what is of a kind, of the last days, and with files", () => {
  const day = 86_400_000;
  const all = [
    { id: "a", kind: "conversation", at: "2026-01-01T00:00:00Z", files: true },
    { id: "b", kind: "conversation", at: "2026-01-20T00:00:00Z", files: false },
    { id: "c", kind: "tool", at: "2026-01-20T00:00:00Z" },
    { id: "d", kind: "action" },
  ];
  const now = Date.parse("2026-01-20T00:00:00Z") + day;
  const left = (change) => filtered(all, { ...NO_FILTER, ...change }, now).map(({ id }) => id);
  assert.deepEqual(left({}), ["a", "b", "c", "d"]);
  assert.deepEqual(left({ kind: "conversation" }), ["a", "b"]);
  assert.deepEqual(left({ days: 7 }), ["b", "c"]);
  assert.deepEqual(left({ files: true }), ["a"]);
});

test("what the server found inside a conversation is listed with its line", () => {
  const [{ entries: lines }] = found(entries(), "vokale", [], { c3: "Zähle die Vokale" });
  assert.deepEqual(
    lines.map(({ id, detail }) => [id, detail]),
    [["conversation c3", "Zähle die Vokale"]],
  );
});

test("what was chosen is remembered, the newest first, a few in all", () => {
  assert.deepEqual(withChoice(["a", "b"], "b"), ["b", "a"]);
  assert.equal(withChoice(["1", "2", "3", "4", "5", "6"], "7").length, 6);
});

test("the places of a query are marked in the title as it is written", () => {
  const [group] = found(entries(), "umsatze", []);
  const [{ title, places }] = group.entries;
  assert.deepEqual(pieces(title, places), [
    { hit: true, text: "Umsätze" },
    { hit: false, text: " in Köln" },
  ]);
});

test("a hostile title is only looked at in part", () => {
  const long = entriesOf({ ...STATE, conversations: [{ id: "x", title: "a".repeat(1e6) }] });
  assert.equal(long.find(({ kind }) => kind === "conversation").title.length, 200);
});
