import assert from "node:assert/strict";
import test from "node:test";

import { parseTable } from "../../web/static/js/csv.js";
import {
  changedIn,
  fileAddress,
  FILES,
  HISTORY,
  isChanged,
  listedProjects,
  nameOf,
  tabsOf,
  figuresIn,
  fileOf,
  isText,
  openProject,
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
  assert.deepEqual([gone.projects, gone.conversationId, gone.view], [[], null, "chat"]);
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
  assert.deepEqual([tabsOf(opened).shown, opened.projectTexts], ["main.py", { 0: "x" }]);
  const error = { message: "gone", remedy: "" };
  assert.deepEqual(after(state, { type: "project_not_loaded", id: "p1", error }).projectDetails, {
    p1: { error },
  });
  const elsewhere = after(opened, { type: "conversation_opened", id: "p2" });
  assert.equal(tabsOf(elsewhere).shown, HISTORY);
  assert.deepEqual(
    tabsOf(after(elsewhere, { type: "conversation_opened", id: "p1" })),
    tabsOf(opened),
  );
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

const loaded = (...files) => ({
  type: "project_loaded",
  project: { ...line, files, backups: [], packages: [], turn_id: null },
});
const opened = (path) => ({ type: "file_opened", path });
const edited = (path, edit) => ({ type: "file_edited", path, edit });
const [a, b] = [file("a.py"), file("b.py")];
const begun = after(initialState, { type: "project_begun", project: line }, loaded(a, b));

test("files open as tabs, and closing one shows its neighbour", () => {
  assert.equal(tabsOf(begun).shown, HISTORY);
  const both = after(begun, opened("a.py"), opened("b.py"), opened("a.py"));
  assert.deepEqual([tabsOf(both).open, tabsOf(both).shown], [["a.py", "b.py"], "a.py"]);
  const one = after(both, { type: "file_closed", path: "a.py" });
  assert.deepEqual([tabsOf(one).open, tabsOf(one).shown], [["b.py"], "b.py"]);
  const none = after(one, { type: "file_closed", path: "b.py" });
  assert.deepEqual([tabsOf(none).open, tabsOf(none).shown], [[], FILES]);
  const aside = after(both, { type: "project_tab_shown", tab: HISTORY });
  assert.equal(tabsOf(after(aside, { type: "file_closed", path: "b.py" })).shown, HISTORY);
});

test("a tab is marked when a build has changed its file, until it is shown", () => {
  const newer = { ...a, sha256: "1123456789abcdef0" };
  const built = after(begun, opened("a.py"), opened("b.py"), loaded(newer, b));
  assert.deepEqual(
    [newer, b].map((one) => isChanged(tabsOf(built), one)),
    [true, false],
  );
  assert.equal(isChanged(tabsOf(after(built, opened("a.py"))), newer), false);
  const watched = after(begun, opened("a.py"), loaded(newer, b));
  assert.equal(isChanged(tabsOf(watched), newer), false);
});

test("a tab whose file is gone closes, but not one of a file that is being made", () => {
  const both = after(begun, opened("a.py"), opened("b.py"), loaded(a));
  assert.deepEqual([tabsOf(both).open, tabsOf(both).shown], [["a.py"], FILES]);
  const made = after(begun, opened("new.py"), loaded(a, b));
  assert.equal(tabsOf(made).shown, "new.py");
  const there = after(made, loaded(a, b, file("new.py")), loaded(a, b));
  assert.equal(tabsOf(there).shown, FILES);
});

test("unsaved text stays with its file while another tab is shown", () => {
  const edit = { text: "x", base: a.sha256 };
  const state = after(begun, opened("a.py"), edited("a.py", edit), opened("b.py"));
  assert.deepEqual(tabsOf(state).edits, { "a.py": edit });
  assert.deepEqual(tabsOf(after(state, edited("a.py", null))).edits, {});
});

test("a project is found by words of its name and goal, and named after its goal", () => {
  const projects = [line, { ...line, id: "p2", name: "song", goal: "Write a melody" }];
  assert.deepEqual(
    listedProjects(projects, " MELODY song ").map(({ id }) => id),
    ["p2"],
  );
  assert.equal(listedProjects(projects, "").length, 2);
  assert.deepEqual(
    ["A command line tool that counts words", "Ein Bericht über Umsätze", "…", "constructor"].map(
      nameOf,
    ),
    ["command-line-tool", "bericht-uber-umsatze", "project", "constructor"],
  );
});

test("the files that a turn changed are told once each, without those that are gone", () => {
  const step = (path, change) => ({ kind: "write_file", change: { path, change, diff: "" } });
  const steps = [
    step("a", "created"),
    step("a", "edited"),
    step("b", "deleted"),
    { kind: "finish" },
  ];
  assert.deepEqual(changedIn(steps), ["a"]);
});

test("a file is fetched by its path and its hash", () => {
  assert.equal(
    fileAddress("p1", file("a b/ä.py")),
    "/api/v1/projects/p1/files/a%20b/%C3%A4.py?0123456789abcdef",
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
