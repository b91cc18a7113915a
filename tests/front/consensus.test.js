import assert from "node:assert/strict";
import test from "node:test";

import {
  differenceText,
  noticedWords,
  parseConsensus,
  parseMutation,
} from "../../web/static/js/consensus.js";

const report = (changes) => ({
  code: "def f(): ...",
  draws: 1,
  passed: 4,
  failed: [],
  problem: null,
  refuted: null,
  ...changes,
});

test("candidates are told by how they did", () => {
  const refuted = { call: "f(n=0)", others: "0", own: "returns 1" };
  const artifact = JSON.stringify({
    kept: 4,
    dropped: [{ test: "test_wrong", against: 2, of: 3, message: "assert 1 == 2" }],
    reports: [
      report({ draws: 2 }),
      report({ refuted }),
      report({ passed: 1, failed: ["test_a"] }),
      report({ passed: 0, problem: "It ran too long." }),
    ],
  });
  const { candidates, dropped } = parseConsensus(artifact);
  assert.deepEqual(
    candidates.map(({ name, words, state }) => [name, words, state]),
    [
      ["Candidate 1 (written 2 times)", "passes 4 of 4 tests", "passed"],
      ["Candidate 2", "passes the tests, but returns other values than most", "failed"],
      ["Candidate 3", "passes 1 of 4 tests", "failed"],
      ["Candidate 4", "It ran too long.", "failed"],
    ],
  );
  assert.deepEqual(dropped, [
    { test: "test_wrong", words: "2 of 3 candidates against it", message: "assert 1 == 2" },
  ]);
});

test("a difference names the call and both values", () => {
  assert.equal(
    differenceText({ call: "f(n=0)", others: "0", own: "returns 1" }),
    "f(n=0)\nmost return 0\nthis one returns 1",
  );
});

test("mutants that live are listed with their line, before and after; older ones in words", () => {
  const artifact = JSON.stringify({
    killed: 2,
    mutants: 4,
    survivors: [
      { line: 8, before: "return a + 1", after: "return a - 1", code: "" },
      { change: "line 2: `<` became `<=`", code: "" },
    ],
    replay: {
      refused: [["test_a", "test_a looks at nothing"]],
      gaps: ["no test notices an empty list"],
    },
  });
  assert.deepEqual(parseMutation(artifact), {
    killed: 2,
    mutants: 4,
    noticed: 0,
    tried: 0,
    survivors: [
      { line: 8, before: "return a + 1", after: "return a - 1" },
      { line: null, before: "line 2: `<` became `<=`", after: "" },
    ],
    notes: ["test_a looks at nothing", "no test notices an empty list"],
  });
});

test("altered outcomes take the place of too few mutants", () => {
  const measured = { killed: 0, mutants: 0, noticed: 3, tried: 4 };
  assert.equal(noticedWords(measured), "noticed 3 of 4 altered outcomes");
  assert.match(noticedWords({ ...measured, killed: 5, mutants: 6 }), /^caught 5 of 6/);
  assert.equal(noticedWords({ ...measured, tried: 0 }), "");
  assert.equal(noticedWords(null), "");
});

test("what is none of these is null", () => {
  assert.deepEqual(
    ["", "no", "{}", "[1]", "null"].flatMap((text) => [parseConsensus(text), parseMutation(text)]),
    Array(10).fill(null),
  );
});
