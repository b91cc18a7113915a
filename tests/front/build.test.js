import assert from "node:assert/strict";
import test from "node:test";

import { figuresText, unifiedLines } from "../../web/static/js/build.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { finished, journal, second, started, stopped } from "./journal.js";

const chosen = (action, args = {}, reasoning = "") => ({
  type: "project_act_chosen",
  project: "demo",
  epoch: 1,
  action,
  arguments: JSON.stringify(args),
  reasoning,
});
const change = {
  type: "project_changed",
  project: "demo",
  epoch: 1,
  path: "main.py",
  change: "created",
  diff: "--- a/main.py\n+++ b/main.py\n@@ -0,0 +1 @@\n+print(1)\n",
  backup: "",
};
const ran = (success, made = []) => ({
  type: "project_ran",
  project: "demo",
  epoch: 1,
  path: "main.py",
  arguments: [],
  success,
  exit_code: success ? 0 : 1,
  ended: "",
  stdout: "1\n",
  stderr: "",
  made,
  refused: [],
  seconds: 0.5,
});
const tested = (success) => ({
  type: "project_tested",
  project: "demo",
  epoch: 1,
  path: "test_main.py",
  success,
  output: "1 test",
  seconds: 0.5,
});
const reasoned = (more = {}) => ({
  type: "project_reasoned",
  project: "demo",
  epoch: 1,
  file_count: 2,
  python_files: 2,
  invalid: [],
  tests_passed: 1,
  tests_failed: 0,
  main_success: true,
  seconds: 1,
  ...more,
});
const paused = (more = {}) => ({
  type: "project_paused",
  project: "demo",
  epoch: 1,
  action: "create_file",
  package: "",
  ...more,
});

const folded = (...events) =>
  journal([started("print 1"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const outline = (turn) => turn.steps.map(({ kind, state }) => [kind, state]);

test("a build is checks and actions, each with what came of it", () => {
  const empty = reasoned({ file_count: 0, python_files: 0, tests_passed: 0, main_success: null });
  const turn = folded(
    {
      type: "project_started",
      project: "demo",
      goal: "print 1",
      path: "/x",
      file_count: 0,
      resumed: false,
    },
    empty,
    chosen("create_file", { name: "main.py" }, "It lacks."),
    change,
    tested(true),
    ran(true),
    reasoned(),
    chosen("finish", { summary: "Done." }),
    finished("Done."),
  );
  assert.deepEqual(outline(turn), [
    ["project_check", "done"], // nothing is there yet, which is no fault
    ["create_file", "done"],
    ["project_check", "done"],
    ["finish", "done"],
  ]);
  assert.deepEqual(turn.steps[1].change, { path: "main.py", change: "created", diff: change.diff });
  assert.deepEqual(
    [turn.steps[1].reasoning, turn.steps[1].arguments],
    ["It lacks.", { name: "main.py" }],
  );
  assert.deepEqual([turn.steps[2].tested.length, turn.steps[2].run.stdout], [1, "1\n"]);
  assert.deepEqual([turn.build.name, turn.build.touched, turn.build.waits], ["demo", 3, null]);
  assert.deepEqual(turn.build.figures, {
    files: 2,
    python: 2,
    invalid: [],
    passed: 1,
    failed: 0,
    main: true,
  });
});

test("what an action runs belongs to it, and an examination to its check", () => {
  const turn = folded(
    chosen("run_tests"),
    tested(false),
    chosen("execute_py_file", { name: "main.py" }),
    ran(true),
    tested(true),
    ran(false),
    reasoned({ main_success: false }),
  );
  assert.deepEqual(outline(turn), [
    ["run_tests", "failed"],
    ["execute_py_file", "done"],
    ["project_check", "failed"],
  ]);
  assert.deepEqual(
    turn.steps.map((step) => [step.tested?.length ?? 0, step.run?.success ?? null]),
    [
      [1, null],
      [0, true],
      [1, false],
    ],
  );
});

test("an edit that changed nothing has failed", () => {
  assert.deepEqual(outline(folded(chosen("remove_lines"), chosen("read_run"), reasoned())), [
    ["remove_lines", "failed"],
    ["read_run", "done"],
    ["project_check", "done"],
  ]);
});

test("what waits for a person does so until the next event", () => {
  const waiting = folded(chosen("create_file", { name: "main.py" }), paused());
  assert.deepEqual(waiting.build.waits, { action: "create_file", package: "" });
  assert.equal(folded(chosen("create_file"), paused(), change).build.waits, null);
  const asked = folded(
    chosen("add_package"),
    paused({ action: "add_package", package: "requests" }),
    stopped("By you."),
  );
  assert.deepEqual(
    [asked.state, outline(asked)],
    [
      "stopped",
      [
        ["add_package", "stopped"],
        ["turn_stopped", "stopped"],
      ],
    ],
  );
});

test("what a build writes by itself is named by what it did", () => {
  const begun = { type: "project_started", project: "demo", goal: "", resumed: false };
  assert.deepEqual(outline(folded(begun, change, finished("Built."))), [["create_file", "done"]]);
});

test("a backup that is restored shows each file that changed", () => {
  assert.deepEqual(outline(folded(change, change, finished("Back."))), [
    ["restored", "done"],
    ["restored", "done"],
  ]);
});

test("figures are told in words", () => {
  assert.equal(figuresText({ files: 1, invalid: [], passed: 0, failed: 0, main: null }), "1 file");
  assert.equal(
    figuresText({ files: 3, invalid: ["x"], passed: 1, failed: 1, main: false, stale: true }),
    "3 files · 1 invalid · 1 of 2 test files pass · main.py fails · changed since that check",
  );
});

test("a unified diff loses its head and keeps its lines", () => {
  assert.deepEqual(
    unifiedLines(
      "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n--- two\n+three\n\\ No newline at end of file\n",
    ),
    [
      { change: "skipped", text: "@@ -1,2 +1,2 @@" },
      { change: "same", text: "one" },
      { change: "removed", text: "-- two" },
      { change: "added", text: "three" },
      { change: "skipped", text: "\\ No newline at end of file" },
    ],
  );
});
