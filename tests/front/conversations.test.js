import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import { conversationPath, grouped, listed, partsBy } from "../../web/static/js/conversations.js";
import { loadConversations, loadNewestConversations } from "../../web/static/js/loading.js";
import { initialState, reduce } from "../../web/static/js/reducer.js";
import { store } from "../../web/static/js/store.js";

const NOW = new Date(2026, 2, 10, 15, 30).getTime();
const on = (id, day, hour = 12, more = {}) => ({
  id,
  title: id,
  active_at: new Date(2026, 2, day, hour).toISOString(),
  ...more,
});
const titles = (groups) => groups.map((g) => [g.title, g.conversations.map(({ id }) => id)]);
const after = (state, ...actions) => actions.reduce(reduce, state);

test("conversations are grouped by the days and months of this clock, the pinned ones first", () => {
  const all = [
    on("now", 10, 15),
    on("midnight", 10, 0),
    on("evening", 9, 23),
    on("week", 3, 0),
    on("month", 2, 23),
    on("february", -21),
    on("january", -40),
    on("kept", 1, 1, { pinned: true }),
  ];
  assert.deepEqual(titles(grouped(all, NOW)), [
    ["Pinned", ["kept"]],
    ["Today", ["now", "midnight"]],
    ["Yesterday", ["evening"]],
    ["Previous 7 days", ["week"]],
    ["Previous 30 days", ["month"]],
    ["February 2026", ["february"]],
    ["January 2026", ["january"]],
  ]);
  assert.deepEqual(grouped([], NOW), []);
});

const two = { ...initialState, conversations: [on("a", 10), on("b", 9)], conversationId: "a" };

test("a search shows what the server found for the newest text", () => {
  const searched = (text) => ({ type: "conversations_searched", text });
  const found = (text, ...ids) => ({
    type: "conversations_found",
    text,
    conversations: ids.map((id) => ({ id })),
  });
  const show = ({ conversations, conversationSearch }) =>
    titles(listed(conversations, conversationSearch, NOW));
  const all = show(two);
  const asked = after(two, searched("x"));
  assert.deepEqual(show(asked), all);
  assert.deepEqual(show(after(asked, found("x", "b"))), [["Found", ["b"]]]);
  assert.deepEqual(show(after(asked, searched("xy"), found("x", "b"))), all);
  assert.deepEqual(show(after(asked, found("x"))), []);
  assert.deepEqual(show(after(asked, found("x"), searched(" "))), all);
});

test("a deleted conversation leaves the list and the page, and can be restored", () => {
  const gone = after(two, { type: "conversation_deleted", id: "a" });
  assert.deepEqual(
    [gone.conversations.map(({ id }) => id), gone.conversationId, gone.deleted],
    [["b"], null, { id: "a", title: "a", open: true }],
  );
  const written = after(
    two,
    { type: "draft_changed", text: "unsent" },
    { type: "conversation_deleted", id: "a" },
  );
  const back = after(written, { type: "conversation_opened", id: "a" });
  assert.deepEqual([written.draft, back.draft], ["", "unsent"]);
  assert.match(gone.announcement.text, /restored with Undo/);
  const other = after(two, { type: "conversation_deleted", id: "b" });
  assert.deepEqual([other.conversationId, other.deleted.open], ["a", false]);
  assert.equal(after(gone, { type: "deletion_dismissed" }).deleted, null);
});

test("a conversation that was deleted in another tab leaves this one, too", () => {
  const gone = after(two, { type: "conversations_loaded", conversations: [on("b", 9)] });
  assert.deepEqual([gone.conversationId, gone.missing], [null, true]);
  const other = after(two, { type: "conversations_loaded", conversations: [on("a", 10)] });
  assert.deepEqual([other.conversationId, other.missing], ["a", false]);
  const unlisted = { ...two, conversationId: "new" }; // or a project
  const loaded = after(unlisted, { type: "conversations_loaded", conversations: [] });
  assert.equal(loaded.conversationId, "new");
});

test("the newest conversations replace those that they are among, and older ones stay", () => {
  const old = after(two, { type: "conversations_loaded", conversations: [on("b", 9), on("c", 2)] });
  const newest = [on("d", 11), on("b", 9)];
  const loaded = after(old, { type: "conversations_loaded", conversations: newest, limit: 2 });
  assert.deepEqual(
    loaded.conversations.map(({ id }) => id),
    ["d", "b", "c"],
  );
  const all = after(old, { type: "conversations_loaded", conversations: newest, limit: 3 });
  assert.equal(all.conversations.length, 2);
});

test("a turn that begins while all conversations are on their way loses none of them", async () => {
  const all = Array.from({ length: 60 }, (_, n) => on(`c${n}`, 9));
  const asked = [];
  const { fetch } = globalThis;
  globalThis.fetch = (path) =>
    new Promise((resolve) => {
      const limit = Number(new URL(path, "http://page").searchParams.get("limit")) || all.length;
      const body = { conversations: all.slice(0, limit) };
      asked.push({ limit, answer: () => resolve(Response.json(body)) });
    });
  const turns = async () => new Promise((resolve) => setTimeout(resolve));
  try {
    const first = loadConversations();
    asked[0].answer();
    await turns();
    const newest = loadNewestConversations();
    for (const { answer } of asked) answer();
    await Promise.all([first, newest]);
    assert.deepEqual(
      asked.map(({ limit }) => limit),
      [50, 60, 60],
    );
    assert.equal(store.peek().conversations.length, 60);
    const later = loadNewestConversations();
    asked.at(-1).answer();
    await later;
    assert.deepEqual([asked.at(-1).limit, store.peek().conversations.length], [50, 60]);
  } finally {
    globalThis.fetch = fetch;
  }
});

test("a renamed conversation has its title at once", () => {
  const renamed = after(two, { type: "conversation_changed", id: "b", change: { title: "B" } });
  assert.deepEqual(
    renamed.conversations.map(({ title }) => title),
    ["a", "B"],
  );
});

test("a shared conversation is read below the path of its link", () => {
  assert.deepEqual(["share/x-Y_1", "a/b", "share"].map(conversationPath), [
    "/share/x-Y_1",
    "/api/v1/conversations/a%2Fb",
    "/api/v1/conversations/share",
  ]);
});

test("the dialog of links shows those of its conversation, and a new one's path until it is revoked", () => {
  const [made, other] = [{ id: "s1", path: "/share/x" }, { id: "s2" }];
  const loaded = (id, shares, told) => ({ type: "shares_loaded", id, shares, told });
  const open = reduce(initialState, { type: "share_wanted", id: "c1" });
  const shown = [
    { type: "share_made", id: "c1", share: made },
    loaded("c1", [made, other]),
    loaded("c2", []), // of a dialog that was closed meanwhile
  ].reduce(reduce, open);
  assert.deepEqual([shown.sharing.shares, shown.sharing.made], [[made, other], made]);
  const revoked = reduce(shown, loaded("c1", [other], "Revoked."));
  assert.deepEqual(
    [revoked.sharing.made, revoked.sharing.told, revoked.announcement.text],
    [null, "Revoked.", "Revoked."],
  );
  assert.equal(reduce(revoked, { type: "share_closed" }).sharing, null);
});

test("what a search found is shown with its place, in which the words are marked", () => {
  const found = { text: "Mean value", found: { b: "the mean of 3 values" } };
  const [group] = listed([{ id: "a" }, { id: "b" }], found, NOW);
  assert.deepEqual(group.conversations, [
    { id: "b", snippet: "the mean of 3 values", query: "Mean value" },
  ]);
  assert.deepEqual(partsBy("the mean of 3 values", "Mean value"), [
    "the ",
    "mean",
    " of 3 ",
    "value",
    "s",
  ]);
  assert.deepEqual(partsBy("1 + 1 (x)", "+ (x)"), ["1 ", "+", " 1 ", "(x)", ""]);
});
