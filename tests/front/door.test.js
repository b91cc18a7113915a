// The front door: its examples, and the tools beside it.

import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import { EXAMPLES, filesOf } from "../../web/static/js/examples.js";
import { ago } from "../../web/static/js/format.js";
import { recentTools } from "../../web/static/js/recent.js";

test("the sample file is attached as one that a person picked", async () => {
  const [file] = filesOf(EXAMPLES.find(({ id }) => id === "file"));
  assert.deepEqual([file.name, file.size], ["sales.csv", (await file.content.text()).length]);
  assert.deepEqual(filesOf(EXAMPLES[0]), []);
});

const tool = (name, more) => ({
  name,
  model: "",
  standing: "trusted",
  uses: 0,
  created_at: "",
  ...more,
});
const names = ({ shown }) => shown.map(({ name }) => name);

test("tools that a model wrote come first, the newest at the top; else those that are used most", () => {
  const seeds = [tool("b"), tool("a"), tool("c", { uses: 2 })];
  const gone = tool("old", { model: "m", standing: "retired" });
  assert.deepEqual(names(recentTools([...seeds, gone])), ["c", "a", "b"]);
  const built = ["2026-01-01", "2026-01-03"].map((at) => tool(at, { model: "m", created_at: at }));
  assert.deepEqual(names(recentTools([...seeds, ...built])), ["2026-01-03", "2026-01-01"]);
  assert.deepEqual(recentTools(null), { built: false, shown: [] });
});

test("a moment is told in its largest unit", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  assert.equal(ago("2026-01-01T23:58:30Z", now), "1 min. ago");
  assert.equal(ago("2026-01-01T22:00:00Z", now), "2 hr. ago");
  assert.equal(ago("2026-01-02T00:00:05Z", now), "now");
  assert.equal(ago("never", now), "");
});
