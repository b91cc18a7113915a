import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import {
  backendWords,
  budgetOf,
  date,
  duration,
  elapsed,
  firstLine,
  moment,
  nowWords,
  number,
  percent,
  proseParts,
  sentence,
  stepWords,
  usageText,
} from "../../web/static/js/format.js";

test("a clock counts whole seconds, then minutes", () => {
  assert.deepEqual([0.04, 0.5, 59.99, 60, 119.9].map(elapsed), [
    "0 s",
    "0 s",
    "59 s",
    "1 min 0 s",
    "1 min 59 s",
  ]);
});

test("durations have the unit that suits them", () => {
  const cases = [
    [null, ""],
    [undefined, ""],
    [0, "<1 ms"],
    [0.0004, "<1 ms"],
    [0.0005, "1 ms"],
    [0.0156, "16 ms"],
    [0.9994, "999 ms"],
    [0.9996, "1.0 s"],
    [1.25, "1.3 s"],
    [59.94, "59.9 s"],
    [59.96, "1 min"],
    [61, "1 min 1 s"],
    [119.6, "2 min"],
    [600, "10 min"],
  ];
  assert.deepEqual(
    cases.map(([seconds]) => duration(seconds)),
    cases.map(([, text]) => text),
  );
});

test("confidence is a whole percentage", () => {
  assert.deepEqual([0, 0.004, 0.005, 0.754, 0.755, 1].map(percent), [
    "0%",
    "0%",
    "1%",
    "75%",
    "76%",
    "100%",
  ]);
});

test("usage names calls, tokens and the cost where it is known", () => {
  const usage = { calls: 5, input_tokens: 2380, output_tokens: 420, cost: 0.0123 };
  assert.equal(usageText(usage), "5 model calls · 2,800 tokens · $0.0123");
  assert.equal(usageText({ ...usage, cost: null }), "5 model calls · 2,800 tokens");
  assert.equal(usageText({ ...usage, cost: 0 }), "5 model calls · 2,800 tokens");
  assert.equal(
    usageText({ ...usage, input_tokens: 0, output_tokens: 0, cost: 0 }),
    "5 model calls",
  );
  assert.equal(
    usageText({ calls: 1, input_tokens: 1, output_tokens: 0, cost: 0.00005 }),
    "1 model call · 1 token · <$0.0001",
  );
  assert.equal(
    usageText({ calls: 1, input_tokens: 1, output_tokens: 0, cost: 1.5 }),
    "1 model call · 1 token · $1.5000",
  );
});

test("no usage is no text", () => {
  assert.deepEqual(
    [usageText(null), usageText({ calls: 0, input_tokens: 0, output_tokens: 0, cost: null })],
    ["", ""],
  );
});

test("a budget names each limit that is half spent, and the share of the nearest", () => {
  const limits = { calls: 40, tokens: 400000, seconds: 600, cost: null };
  const usage = { calls: 5, input_tokens: 2380, output_tokens: 420, cost: 0.0123 };
  assert.deepEqual(budgetOf({ usage, limits, seconds: 60.2 }), { words: "", share: 0 });
  assert.deepEqual(budgetOf({ usage: { ...usage, calls: 20 }, limits, seconds: 450 }), {
    words: "20 of 40 model calls · at most 600 s",
    share: 0.75,
  });
  const costly = budgetOf({
    usage: { ...usage, cost: 0.9 },
    limits: { ...limits, cost: 1 },
    seconds: 60,
  });
  assert.deepEqual(costly, { words: "$0.9000 of $1", share: 0.9 });
  assert.equal(budgetOf({ usage: { ...usage, calls: 50 }, limits, seconds: 60 }).share, 1);
});

test("numbers are grouped", () => {
  assert.equal(number(1234567), "1,234,567");
});

test("a step without words goes by its own name", () => {
  assert.deepEqual(
    [stepWords("stub"), stepWords("invented"), nowWords({ kind: "test" }), nowWords(undefined)],
    ["Tests without an implementation", "invented", "Writing the tests", "Working"],
  );
});

test("dates are short, and nothing where there is none", () => {
  assert.deepEqual(
    [date("2025-03-05T12:00:00Z"), date(""), date(undefined)],
    ["Mar 5, 2025", "", ""],
  );
});

test("a moment has a time of the day too", () => {
  assert.match(moment("2025-03-05T12:00:00Z"), /^Mar \d, 2025, \d+:\d\d/);
  assert.deepEqual([moment(""), moment(undefined)], ["", ""]);
});

test("the first line is the first that says something", () => {
  assert.deepEqual(["\n a\nb", "one", ""].map(firstLine), ["a", "one", ""]);
});

test("a backend is named by its containers", () => {
  assert.deepEqual(["docker", "bubblewrap", "none"].map(backendWords), [
    "a Docker container",
    "a bubblewrap container",
    "a container",
  ]);
});

test("what stands between backticks is code, and a single backtick is text", () => {
  assert.deepEqual(proseParts("Set `OPENAI_MODEL`, then retry"), [
    { code: false, words: "Set " },
    { code: true, words: "OPENAI_MODEL" },
    { code: false, words: ", then retry" },
  ]);
  assert.deepEqual(proseParts("a ` b <b>"), [{ code: false, words: "a ` b <b>" }]);
});

test("what the server says becomes a sentence, names and code stay", () => {
  const cases = {
    "": "",
    "something went wrong in the server": "Something went wrong in the server.",
    "can't write": "Can't write.",
    "large.csv was not attached": "large.csv was not attached.",
    "Done.": "Done.",
    "is it there?": "Is it there?",
    "text_length must be positive": "text_length must be positive.",
    "unit='mile' is not one of them": "unit='mile' is not one of them.",
    "`part` is missing": "`part` is missing.",
    ärgerlich: "Ärgerlich.",
  };
  assert.deepEqual(Object.keys(cases).map(sentence), Object.values(cases));
});
