// Bundles on their way in: events that come in pieces, and what a person may add.

import assert from "node:assert/strict";
import test from "node:test";

import { chosenTools, readEvents, wordsOf } from "../../web/static/js/exchange.js";
import { visible } from "../../web/static/js/visible.js";

test("events are read as they come, whole ones only", () => {
  const text = 'event: offer\ndata: {"tools": []}\n\n: keep-alive\n\nevent: finding\nda';
  const { events, rest } = readEvents(text);
  assert.deepEqual(events, [["offer", { tools: [] }]]);
  assert.deepEqual(readEvents(`${rest}ta: {"name": "a"}\n\n`), {
    events: [["finding", { name: "a" }]],
    rest: "",
  });
});

test("only what passed and was not left out is added", () => {
  const tools = ["a", "b", "c", "d"].map((name) => ({ name }));
  const findings = {
    a: { outcome: "passed" },
    b: { outcome: "refused" },
    c: { outcome: "passed" },
  };
  assert.deepEqual(chosenTools(tools, findings, new Set(["c"])), ["a"]);
});

test("words show what hides in them", () => {
  const tool = {
    name: "a",
    signature: "a(x: int) -> int",
    description: "Fine.\u202e",
    model: "m\u200b",
    parameters: { x: "One.\x1b", y: "" },
    example_requests: ["do\u2066"],
  };
  const words = wordsOf(tool, visible);
  assert.deepEqual(
    [words.description, words.model, words.parameters, words.requests],
    ["Fine.\\u202e", "m\\u200b", [["x", "One.\\x1b"]], ["do\\u2066"]],
  );
});
