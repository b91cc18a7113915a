import assert from "node:assert/strict";
import test from "node:test";

import { initialState, reduce } from "../../web/static/js/reducer.js";
import {
  authorWords,
  compared,
  originWords,
  standingTitle,
  versionFacts,
  versionKey,
} from "../../web/static/js/versions.js";

const after = (state, ...actions) => actions.reduce(reduce, state);
const numbered = (...numbers) => numbers.map((version) => ({ version }));
const add = { name: "add", version: 2, uses: 0, standing: "trusted" };
const sum = { name: "sum", version: 1, standing: "provisional" };
const opened = after(initialState, { type: "tools_loaded", tools: [add, sum] });
const loaded = after(
  opened,
  { type: "versions_loaded", name: "add", versions: numbered(2, 1) },
  { type: "tool_loaded", name: "add", tool: add },
);

test("every standing is explained, and one from a newer server is not", () => {
  assert.deepEqual(
    ["provisional", "trusted", "retired"].filter((s) => !standingTitle(s)),
    [],
  );
  assert.equal(standingTitle("invented"), "");
});

test("a version says why it was made, and one from a newer server in its words", () => {
  const origins = [
    { how: "created" },
    { how: "edited" },
    { how: "repaired", failure: "it raised KeyError" },
    { how: "repaired", failure: "" },
    { how: "extended", parameters: ["a", "b"] },
    { how: "rolled_back", to: 1 },
    { how: "requirement_changed", tool: "sum", version: 2 },
    { how: "refactored", factor: 12.345 },
    { how: "invented" },
  ];
  assert.deepEqual(
    origins.map((origin) => originWords({ origin, why: "a new reason" })),
    [
      "created",
      "edited by hand",
      "repaired: it raised KeyError",
      "repaired",
      "with the new parameters a and b",
      "rolled back to version 1",
      "takes version 2 of sum",
      "12.3× faster",
      "a new reason",
    ],
  );
});

test("whoever wrote a tool is named: a model, the built-in one, or a person", () => {
  assert.deepEqual(["gpt-4", "offline", ""].map(authorWords), [
    "by gpt-4",
    "by the offline model",
    "by hand",
  ]);
});

test("a version says who wrote it, how its tests came out, and what it cost", () => {
  const usage = { calls: 3, input_tokens: 900, output_tokens: 100, cost: 0.0123 };
  assert.equal(
    versionFacts({ model: "gpt-4", tests: { passed: 2, total: 2 }, usage }),
    "by gpt-4 · 2 tests passed · 3 model calls · 1,000 tokens · $0.0123",
  );
  assert.equal(
    versionFacts({ model: "", tests: { passed: 1, total: 2 }, usage: null }),
    "by hand · 1 of 2 tests passed",
  );
  assert.equal(versionFacts({ model: "", tests: null, usage: null }), "by hand");
});

test("the newest version is compared with the one before it until others are chosen", () => {
  const list = numbered(7, 5, 1);
  assert.deepEqual(compared(list, {}), { from: 5, to: 7 });
  assert.deepEqual(compared(list, { from: 7, to: 1 }), { from: 7, to: 1 });
  assert.deepEqual(compared(list, { from: 1 }), { from: 1, to: 7 });
  assert.deepEqual(compared(list, { to: 1 }), { from: 7, to: 1 });
  assert.deepEqual(compared(list, { from: 3, to: 5 }), { from: 1, to: 5 });
  assert.deepEqual([compared(numbered(4), {}), compared([], {})], [null, null]);
});

test("versions and their sources are kept by tool and number", () => {
  const error = { message: "no version 7", remedy: "" };
  const state = after(
    loaded,
    { type: "version_loaded", name: "add", number: 1, version: { code: "x" } },
    { type: "version_not_loaded", name: "add", number: 7, error },
    { type: "versions_not_loaded", name: "sum", error },
  );
  assert.deepEqual(state.versions, { add: { list: numbered(2, 1) }, sum: { error } });
  assert.deepEqual(state.versionSources, {
    [versionKey("add", 1)]: { version: { code: "x" } },
    [versionKey("add", 7)]: { error },
  });
});

test("a change is under way until it is done, and shows in the list at once", () => {
  const begun = after(loaded, { type: "tool_change_begun", name: "add" });
  assert.deepEqual([begun.changing, begun.changeProblem], ["add", null]);
  const retired = { ...add, standing: "retired" };
  const done = after(begun, { type: "tool_changed", tool: retired });
  assert.deepEqual(done, {
    ...loaded,
    tools: [retired, sum],
    toolDetails: { add: { tool: add, stale: true } },
    versions: { add: { list: numbered(2, 1), stale: true } },
  });
});

test("a request that is removed leaves the page of its tool without it", () => {
  const page = { name: "add", used_requests: [] };
  const done = after(
    loaded,
    { type: "tool_change_begun", name: "add" },
    { type: "request_forgotten", name: "add", tool: page },
  );
  assert.deepEqual(
    [done.changing, done.toolDetails.add, done.announcement.text],
    [null, { tool: page }, "Request removed."],
  );
});

test("a change that is refused says why until the next one, or another tool", () => {
  const error = { message: "version 2 of add is already in use", remedy: "choose another" };
  const refused = after(
    loaded,
    { type: "tool_change_begun", name: "add" },
    { type: "tool_change_refused", name: "add", error },
  );
  assert.deepEqual([refused.changing, refused.changeProblem], [null, { name: "add", ...error }]);
  assert.equal(refused.announcement.text, "Not possible: version 2 of add is already in use");
  assert.equal(after(refused, { type: "tool_change_begun", name: "add" }).changeProblem, null);
  assert.equal(after(refused, { type: "tool_opened", name: "sum" }).changeProblem, null);
});

test("versions of a changed tool stay in sight until newer ones come", () => {
  const change = { type: "library_changed", name: "add", change: "revised", reason: "" };
  assert.deepEqual(after(loaded, change).versions, { add: { list: numbered(2, 1), stale: true } });
  const failed = after(opened, { type: "versions_not_loaded", name: "add", error: {} }, change);
  assert.deepEqual(failed.versions, {});
});
