import assert from "node:assert/strict";
import test from "node:test";

import { latest, previous, running } from "../../web/static/js/steps.js";
import {
  count,
  expectedTests,
  repeatWords,
  stubWords,
  tallyWords,
} from "../../web/static/js/suite.js";
import { addRecords, emptyThread } from "../../web/static/js/thread.js";
import { journal, REPAIRED, result } from "./journal.js";

const stepsAfter = (events) => addRecords(emptyThread, journal(events)).turns.t1.steps;
const upTo = (name, state, attempt = 1) =>
  REPAIRED.slice(
    0,
    REPAIRED.findIndex((e) => e.step === name && e.state === state && e.attempt === attempt) + 1,
  );

test("a verification expects as many tests as its suite ran without an implementation", () => {
  const steps = stepsAfter(upTo("verify", "started", 2));
  assert.equal(expectedTests(steps, latest(steps, "verify")), 2);
  const alone = { kind: "verify", tests: [result("test_a")] };
  assert.equal(expectedTests([alone], alone), 1);
});

test("tests are counted by outcome, errors as failures", () => {
  const tests = [
    result("a"),
    result("b", "failed"),
    result("c", "error"),
    result("d", "skipped"),
    result("e"),
  ];
  assert.deepEqual(count(tests), { total: 5, passed: 2, skipped: 1, failed: 2 });
  assert.deepEqual(count([]), { total: 0, passed: 0, skipped: 0, failed: 0 });
  assert.equal(tallyWords(tests), "2 of 5 passed, 2 failed");
  assert.equal(tallyWords(tests.slice(0, 1), 6), "1 of 6 passed");
});

test("tests that fail without an implementation are told as what they should do", () => {
  const without = (...outcomes) => stubWords(outcomes.map((outcome) => result("a", outcome)));
  assert.equal(
    without("failed", "error"),
    "All 2 tests fail without an implementation, as they should.",
  );
  assert.equal(without("failed"), "The only test fails without an implementation, as it should.");
  assert.equal(
    without("failed", "passed"),
    "1 of 2 tests passed without an implementation, so it tests nothing.",
  );
});

test("a repair finds the implementation that it starts from", () => {
  const steps = stepsAfter(REPAIRED);
  const repair = latest(steps, "implement");
  assert.deepEqual([repair.key, previous(steps, repair).key], ["implement-2", "implement-1"]);
  assert.equal(previous(steps, previous(steps, repair)), undefined);
});

test("the running steps are those that have not ended", () => {
  assert.deepEqual(
    running(stepsAfter(upTo("test", "streaming"))).map((s) => s.key),
    ["test-1"],
  );
  assert.deepEqual(running(stepsAfter(REPAIRED)), []);
});

test("further runs of a suite are told in words", () => {
  const same = (order) => ({ order, same: true, detail: "" });
  const other = { order: "shuffled", same: false, detail: "test_a failed" };
  assert.equal(repeatWords([]), "");
  assert.equal(repeatWords([same("reversed")]), "Again in reversed order: same result.");
  assert.equal(
    repeatWords([same("reversed"), same("shuffled")]),
    "Again in reversed and shuffled order: same result.",
  );
  assert.equal(
    repeatWords([same("reversed"), other]),
    "Again in reversed order: same result. " + "Again in shuffled order: test_a failed.",
  );
});
