import assert from "node:assert/strict";
import test from "node:test";

import { parseTable } from "../../web/static/js/csv.js";
import {
  fileAddress,
  figuresIn,
  fileOf,
  isText,
  openProject,
  shownFile,
  stampOf,
  tree,
} from "../../web/static/js/projects.js";
import { initialState, reduce } from "../../web/static/js/reducer.js";

const after = (state, ...actions) => actions.reduce(reduce, state);
const file = (path) => ({ path, size: 1, sha256: "0123456789abcdef0", media_type: "text/plain" });
const line = {
  id: "p1",
  name: "demo",
  goal: "print 1",
  status: "building",
  created_at: "2026-01-01T00:00:00Z",
};

test("a project that was begun is open, and a deleted one is gone", () => {
  const state = after(
    initialState,
    { type: "projects_loaded", projects: [] },
    { type: "project_begun", project: line },
  );
  assert.deepEqual([openProject(state), state.view, state.panel], [line, "chat", "activity"]);
  const gone = after(state, { type: "project_deleted", id: "p1" });
  assert.deepEqual(
    [gone.projects, gone.conversationId, gone.view, gone.panel],
    [[], null, "projects", "projects"],
  );
});

test("what was loaded of a project renews its line, and its files can be found", () => {
  const project = {
    ...line,
    status: "finished",
    files: [file("main.py")],
    backups: [],
    packages: [],
    turn_id: null,
  };
  const state = after(
    initialState,
    { type: "project_begun", project: line },
    { type: "project_loaded", project },
  );
  assert.equal(openProject(state).status, "finished");
  assert.deepEqual([fileOf(state, "main.py"), fileOf(state, "gone.py")], [file("main.py"), null]);
  const opened = after(
    state,
    { type: "file_opened", path: "main.py" },
    { type: "text_loaded", sha256: "0", text: "x" },
  );
  assert.deepEqual([opened.openFile, opened.projectTexts], ["main.py", { 0: "x" }]);
  const error = { message: "gone", remedy: "" };
  assert.deepEqual(after(state, { type: "project_not_loaded", id: "p1", error }).projectDetails, {
    p1: { error },
  });
  assert.equal(after(opened, { type: "conversation_opened", id: "p2" }).openFile, null);
});

test("the tree has folders first, and each once", () => {
  const rows = tree(["test.py", "pkg/b.py", "pkg/sub/a.py", "main.py"].map(file)).map(
    ({ name, depth, file: f }) => [name, depth, Boolean(f)],
  );
  assert.deepEqual(rows, [
    ["pkg", 0, false],
    ["sub", 1, false],
    ["a.py", 2, true],
    ["b.py", 1, true],
    ["main.py", 0, true],
    ["test.py", 0, true],
  ]);
});

test("the file that shows is the chosen one, else main.py, else the first", () => {
  const files = [file("a.py"), file("main.py")];
  assert.deepEqual(
    [
      shownFile(files, "a.py").path,
      shownFile(files, "gone").path,
      shownFile([file("b")], null).path,
      shownFile([], null),
    ],
    ["a.py", "main.py", "b", null],
  );
});

test("a file is fetched by its path and its hash", () => {
  assert.equal(
    fileAddress("p1", file("a b/ä.py")),
    "/api/projects/p1/files/a%20b/%C3%A4.py?0123456789abcdef",
  );
  assert.deepEqual([file("x.md"), file("song.mid"), file("LICENSE")].map(isText), [
    true,
    false,
    true,
  ]);
});

test("the stamp grows with what may have changed the project, and the newest figures count", () => {
  const turns = {
    t1: { state: "done", build: { touched: 2, figures: { files: 1, passed: 1 } }, steps: [] },
    t2: { state: "running", steps: [{ run: {} }] },
  };
  const thread = { order: ["t1", "t2"], turns };
  assert.equal(stampOf(thread), "done 2,running 0");
  assert.deepEqual(figuresIn(thread, [file("a"), file("b")]), {
    files: 2,
    passed: 1,
    stale: false,
  });
  const edited = { ...thread, turns: { ...turns, t2: { ...turns.t2, steps: [{ change: {} }] } } };
  assert.equal(figuresIn(edited, []).stale, true);
  assert.equal(figuresIn({ order: [], turns: {} }, []), null);
});

test("tables are read with their quotes and their own separator", () => {
  assert.deepEqual(parseTable('a,b\n"x, y","say ""hi"""\r\n1,2\n'), [
    ["a", "b"],
    ["x, y", 'say "hi"'],
    ["1", "2"],
  ]);
  assert.deepEqual(parseTable("a;b\n1,5;2"), [
    ["a", "b"],
    ["1,5", "2"],
  ]);
  assert.deepEqual(parseTable("a\tb\n1\t2\n3\t4", 2), [
    ["a", "b"],
    ["1", "2"],
  ]);
  assert.deepEqual(parseTable('a\n"two\nlines"'), [["a"], ["two\nlines"]]);
});
