import assert from "node:assert/strict";
import test from "node:test";

import {
  addressOf,
  attach,
  filesAgain,
  isPicture,
  kindOf,
  languageOf,
  limitsText,
} from "../../web/static/js/files.js";
import { filesIn } from "../../web/static/js/picking.js";
import { fileSize } from "../../web/static/js/format.js";
import { initialState, reduce } from "../../web/static/js/reducer.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { executed, executing, journal, second, started } from "./journal.js";

const MB = 1024 * 1024;
const LIMITS = { count: 2, size: 3 * MB };
const file = (name, size = 1, key = name) => ({ key, name, size, content: null });
const CSV = { name: "data.csv", size: 4, sha256: "a".repeat(64), media_type: "text/csv" };
const PNG = { name: "a b?.png", size: 4, sha256: "b".repeat(64), media_type: "image/png" };

test("files are attached up to the limits, and what is too much is named", () => {
  const { files, problem } = attach(
    [file("a")],
    [file("b", 2 * MB), file("c"), file("large", 4 * MB)],
    LIMITS,
  );
  assert.deepEqual(files, [file("a"), file("b", 2 * MB)]);
  assert.equal(
    problem,
    "c was not attached: 2 files may come with a request. large was not attached: 2 files may come with a request.",
  );
  const large = attach([file("a", 2 * MB)], [file("b", 2 * MB)], LIMITS);
  assert.deepEqual(large, {
    files: [file("a", 2 * MB)],
    problem: "b was not attached: all files together may have 3 MB, these have 4 MB.",
  });
});

test("a file takes the place of one with the same name", () => {
  assert.deepEqual(attach([file("a", 1, "k1"), file("b")], [file("a", 2, "k2")], LIMITS).files, [
    file("b"),
    file("a", 2, "k2"),
  ]);
});

test("before the limits are known everything is attached", () => {
  assert.deepEqual(attach([], [file("a", 99 * MB)], undefined), {
    files: [file("a", 99 * MB)],
    problem: "",
  });
});

test("names lose what cannot be seen in them", () => {
  const odd = "Screenshot at 3.45\u202fPM\u00a0.png";
  assert.equal(attach([], [file(odd)], LIMITS).files[0].name, "Screenshot at 3.45 PM .png");
  assert.equal(attach([], [file(" o\u0308.csv ")], LIMITS).files[0].name, "ö.csv");
});

test("names that the server refuses are told before anything is sent", () => {
  const problems = [".hidden", "-rf", "a/b", "a\u202eb", "a\u0007b", "x".repeat(256)].map((name) =>
    attach([], [file(name)], LIMITS),
  );
  assert.deepEqual(
    problems.map(({ files }) => files),
    [[], [], [], [], [], []],
  );
  assert.equal(problems[0].problem, ".hidden was not attached: its name begins with ..");
  assert.deepEqual(attach([], [file("random.py"), file("🎉 é.csv")], LIMITS).files.length, 2);
});

test("limits and sizes are told in words", () => {
  assert.equal(limitsText(LIMITS), "up to 2 files, 3 MB together");
  assert.equal(limitsText({ ...LIMITS, each: 1048576 }), "up to 2 files of 1 MB, 3 MB together");
  assert.equal(limitsText(undefined), "");
  const sizes = {
    0: "0 B",
    1023: "1,023 B",
    1024: "1.0 KB",
    25893: "25 KB",
    [1024 * 1000]: "1 MB",
    [2.5 * MB]: "2.5 MB",
  };
  assert.deepEqual(
    Object.keys(sizes).map((n) => fileSize(Number(n))),
    Object.values(sizes),
  );
});

test("addresses hold conversation, content and name", () => {
  assert.equal(
    addressOf("c1", PNG),
    `/api/v1/conversations/c1/files/${"b".repeat(64)}/a%20b%3F.png`,
  );
  assert.deepEqual([CSV, PNG, { media_type: "image/svg+xml" }].map(isPicture), [
    false,
    true,
    false,
  ]);
});

test("attached files go with the request, and come back when it is edited", () => {
  const health = { files: LIMITS };
  const run = (state, ...actions) => actions.reduce(reduce, state);
  const attached = run(
    { ...initialState, health },
    { type: "files_attached", files: [file("a"), file("b")] },
  );
  assert.deepEqual([attached.attached, attached.refused], [[file("a"), file("b")], ""]);
  const more = run(attached, { type: "files_attached", files: [file("c")] });
  assert.deepEqual(
    [more.attached, more.refused],
    [
      attached.attached,
      "c was not attached: 2 files may come with a request. " +
        "Attach a smaller file, a part of it, or fewer files.",
    ],
  );
  const removed = run(attached, { type: "file_detached", key: "a" });
  assert.deepEqual([removed.attached, removed.refused], [[file("b")], ""]);
  const asked = run(removed, { type: "asked", key: "k", text: "hi", files: removed.attached });
  assert.deepEqual([asked.attached, asked.pending[0].files], [[], [file("b")]]);
  const edited = run(asked, { type: "example_chosen", text: "hi", files: asked.pending[0].files });
  assert.deepEqual(edited.attached, [file("b")]);
  assert.deepEqual(run(edited, { type: "example_chosen", text: "another" }).attached, [file("b")]);
});

test("a turn knows the files that it was given and those that were made", () => {
  const events = [
    { ...started("go"), files: [CSV] },
    executing,
    executed,
    { type: "files_made", tool: "t", files: [PNG] },
  ];
  const turn = journal(events).reduce(
    (t, { event, at }) => foldEvent(t, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
  assert.deepEqual([turn.files, turn.made, turn.steps.at(-1).made], [[CSV], [PNG], [PNG]]);
  assert.deepEqual(foldEvent(newTurn("t1", 0), started("from before"), 0).files, []);
});

test("a request that is edited or asked again brings its files, whose contents stay on the server", () => {
  const turn = { ...newTurn("t1", 0), request: "Plot it", files: [CSV] };
  const again = [
    {
      key: `c1 ${CSV.sha256} data.csv`,
      name: "data.csv",
      size: 4,
      address: `/api/v1/conversations/c1/files/${CSV.sha256}/data.csv`,
    },
  ];
  assert.deepEqual(filesAgain(turn, "c1"), again);
  const edited = reduce(
    { ...initialState, conversationId: "c1", view: "activity" },
    { type: "request_edited", turn },
  );
  assert.deepEqual(
    [edited.draft, edited.attached, edited.view, edited.focusComposer],
    ["Plot it", again, "chat", 1],
  );
});

test("a file is shown by its kind, and a picture only by its content", () => {
  const kinds = (...names) =>
    names.map((name) => kindOf({ name, media_type: "application/octet-stream" }));
  assert.deepEqual(
    kinds("a.CSV", "b.tsv", "c.json", "d.ipynb", "e.md", "f.py", "g.html", "h.log"),
    ["table", "table", "json", "notebook", "markdown", "code", "code", "text"],
  );
  assert.deepEqual(kinds("fake.png", "x.zip", "song.mid", "Makefile", "no_ending"), [
    "other",
    "other",
    "other",
    "text",
    "other",
  ]);
  assert.equal(kindOf({ name: "constructor", media_type: "text/plain" }), "text");
  assert.equal(kindOf({ name: "p.csv", media_type: "image/png" }), "picture");
  assert.equal(kindOf({ path: "folder/Readme.md", media_type: "" }), "markdown");
  assert.deepEqual(["a.yml", "a.toml", "a.exe"].map(languageOf), ["yaml", "ini", ""]);
});

async function collected(files) {
  const found = [];
  for await (const file of files) found.push(file);
  return found;
}

test("the files of a folder are named after where they were; hidden ones stay out", async () => {
  const leaf = (name) => ({ isFile: true, name, file: (done) => done(new File([name], name)) });
  const folder = (name, ...parts) => ({
    name,
    createReader() {
      const batches = [parts.slice(0, 1), parts.slice(1), []];
      return { readEntries: (done) => done(batches.shift()) };
    },
  });
  const top = folder("data", leaf("a.csv"), leaf(".hidden"), folder("sub", leaf("b.csv")));
  assert.deepEqual(
    (await collected(filesIn(top))).map(({ name }) => name),
    ["data-a.csv", "data-sub-b.csv"],
  );
  assert.deepEqual(
    (await collected(filesIn(leaf("c.csv")))).map(({ name }) => name),
    ["c.csv"],
  );
});
