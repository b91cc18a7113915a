import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import { packed, unpacked } from "../../web/static/js/drafts.js";
import { initialState, reduce } from "../../web/static/js/reducer.js";

const after = (state, ...actions) => actions.reduce(reduce, state);
const open = (id) => ({ type: "conversation_opened", id });
const write = (text) => ({ type: "draft_changed", text });
const FILE = { key: "k", name: "a.csv", size: 1, content: null };

test("each conversation keeps what is written in it, with its files", () => {
  const written = after(
    initialState,
    write("new"),
    open("c1"),
    write("first"),
    { type: "files_attached", files: [FILE] },
    open("c2"),
  );
  assert.deepEqual([written.draft, written.attached], ["", []]);
  const back = after(written, open("c1"));
  assert.deepEqual([back.draft, back.attached], ["first", [FILE]]);
  assert.equal(after(back, open(null)).draft, "new");
});

test("a sent request leaves no draft, and a new conversation that gets its id keeps the next one", () => {
  const sent = after(
    initialState,
    write("one"),
    { type: "asked", key: "k", text: "one", files: [] },
    write("two"),
    { type: "ask_accepted", key: "k", conversationId: "c1", turnId: "t1" },
  );
  assert.deepEqual([sent.conversationId, sent.draft], ["c1", "two"]);
  assert.equal(after(sent, open(null)).draft, "");
  assert.equal(after(sent, open(null), open("c1")).draft, "two");
});

test("drafts outlive a reload, but for files and very long ones", () => {
  const written = after(
    initialState,
    write("x".repeat(50_001)),
    open("c1"),
    write("first"),
    open("c2"),
    write("second"),
  );
  const drafts = unpacked(packed(written));
  const restored = after(initialState, { type: "drafts_restored", drafts }, open("c2"));
  assert.equal(restored.draft, "second");
  assert.equal(after(restored, open("c1")).draft, "first");
  assert.equal(after(restored, open(null)).draft, "");
});

test("the newest thirty drafts are kept", () => {
  const ids = Array.from({ length: 40 }, (_, i) => `c${i}`);
  const written = after(initialState, ...ids.flatMap((id) => [open(id), write(id)]));
  assert.deepEqual(Object.keys(unpacked(packed(written))), ids.slice(10));
});

test("a storage with anything else in it holds no drafts", () => {
  for (const text of [null, "", "{}", "null", "[1]", '[["a", {}]]', '[["a", 1]]'])
    assert.deepEqual(unpacked(text), {}, String(text));
});

test("a draft stays with a conversation that is deleted, and comes back when that is undone", () => {
  const deleted = after(initialState, open("c1"), write("first"), {
    type: "conversation_deleted",
    id: "c1",
  });
  assert.deepEqual([deleted.conversationId, deleted.draft], [null, ""]);
  assert.equal(after(deleted, open("c1")).draft, "first");
});
