import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import {
  choiceOf,
  currentThread,
  initialState,
  needsHistory,
  pendingOf,
  placeOf,
  reduce,
  shownBranch,
  shownTurn,
} from "../../web/static/js/reducer.js";
import { addRecords, emptyThread } from "../../web/static/js/thread.js";
import {
  failed,
  finished,
  journal,
  mismatch,
  REPAIRED,
  searching,
  second,
  started,
  stopped,
  token,
} from "./journal.js";

const after = (state, ...actions) => actions.reduce(reduce, state);
const received = (records, more = {}) => ({
  type: "records_received",
  conversationId: "c1",
  records,
  live: true,
  now: second(records.length),
  ...more,
});
const asked = (key, text) => ({ type: "asked", key, text, files: [] });
const accepted = (key, turnId, conversationId = "c1") => ({
  type: "ask_accepted",
  key,
  conversationId,
  turnId,
});
const waiting = (key, text, more = {}) => ({
  key,
  text,
  files: [],
  answers: {},
  conversationId: "c1",
  turnId: null,
  sent: false,
  error: null,
  ...more,
});

const opened = after(initialState, { type: "conversation_opened", id: "c1" });
const said = (state) => state.announcement.text;

test("an action that does not exist is an error", () => {
  assert.throws(
    () => reduce(initialState, { type: "nonsense" }),
    new Error("no such action: nonsense"),
  );
});

test("a synthesis with a repair, record by record, gives what its history gives", () => {
  const records = journal(REPAIRED);
  const live = after(opened, ...records.map((r) => received([r], { now: Date.parse(r.at) })));
  const history = after(opened, received(records, { live: false }));
  assert.deepEqual({ ...live, announcement: null }, { ...history, announcement: null });
  assert.deepEqual(history, { ...opened, threads: { c1: addRecords(emptyThread, records) } });
});

test("a reconnect in the middle of a turn misses nothing and shows nothing twice", () => {
  const records = journal(REPAIRED);
  const complete = after(opened, received(records, { live: false }));
  const lost = after(opened, received(records.slice(0, 9)), {
    type: "connection_changed",
    connection: "reconnecting",
  });
  const early = after(
    lost,
    { type: "connection_changed", connection: "online" },
    received(records.slice(14, 16)),
  );
  assert.deepEqual([needsHistory(lost), needsHistory(early)], [false, true]);
  const caught = after(
    early,
    received(records.slice(9, 15), { live: false }),
    received(records.slice(15)),
  );
  assert.deepEqual(caught.threads, complete.threads);
  assert.equal(needsHistory(caught), false);
});

test("records of another conversation go to their thread and are not announced", () => {
  const state = after(
    opened,
    received(journal([started("x"), searching]), { conversationId: "c2" }),
  );
  assert.deepEqual(Object.keys(state.threads), ["c2"]);
  assert.deepEqual(currentThread(state), emptyThread);
  assert.deepEqual(state.announcement, initialState.announcement);
});

const sent = (key) => ({ type: "ask_sent", key });

test("a request is pending until its turn is in the journal", () => {
  const one = after({ ...opened, draft: "hi", selectedTurn: "t0" }, asked("k", "hi"));
  assert.deepEqual(one, {
    ...opened,
    draft: "",
    selectedTurn: null,
    pending: [waiting("k", "hi")],
  });
  const two = after(one, accepted("k", "t1"));
  assert.deepEqual(two.pending, [waiting("k", "hi", { turnId: "t1" })]);
  assert.deepEqual(after(two, received(journal([started("hi")]))).pending, []);
  assert.deepEqual(after(two, received(journal([["t2", started("hi")]]))).pending, two.pending);
});

test("a turn that is journalled before its acknowledgement ends the pending request", () => {
  const state = after(opened, asked("k", "hi"), sent("k"), received(journal([started("hi")])));
  assert.deepEqual(state.pending, []);
  assert.deepEqual(after(state, accepted("k", "t1")), state);
});

test("of two requests with the same words each waits for its own turn", () => {
  const twice = after(opened, asked("k1", "hi"), sent("k1"), asked("k2", "hi"), sent("k2"));
  const first = after(twice, received(journal([started("hi")])));
  assert.deepEqual(first.pending, [waiting("k2", "hi", { sent: true })]);
  assert.deepEqual(
    after(first, received(journal([["t2", started("hi")]], { from: 2 }))).pending,
    [],
  );
  assert.deepEqual(
    after(
      twice,
      received(
        journal([
          ["t1", started("hi")],
          ["t2", started("hi")],
        ]),
      ),
    ).pending,
    [],
  );
});

test("a turn whose request is known by its id does not end another with the same words", () => {
  const state = after(
    opened,
    asked("k1", "hi"),
    asked("k2", "hi"),
    accepted("k2", "t1"),
    received(journal([started("hi")])),
  );
  assert.deepEqual(state.pending, [waiting("k1", "hi")]);
});

test("a request that waits for the connection, or was restored, is not ended by another with the same words", () => {
  const offline = after(opened, asked("k", "hi"), received(journal([started("hi")])));
  assert.deepEqual(offline.pending, [waiting("k", "hi")]);
  const mine = waiting("k", "hi", { sent: true });
  const restored = after(
    opened,
    { type: "asks_restored", pending: [mine] },
    received(journal([started("hi")]), { live: false }),
  );
  assert.deepEqual(restored.pending, [waiting("k", "hi")]);
  const known = after(restored, sent("k"), accepted("k", "t1"));
  assert.deepEqual(known.pending, []);
});

test("a refused request is sent again as the same one", () => {
  const refused = { type: "ask_refused", key: "k", error: { message: "no", remedy: "" } };
  const state = after(opened, asked("k", "hi"), sent("k"), refused, {
    type: "ask_retried",
    key: "k",
  });
  assert.deepEqual(state.pending, [waiting("k", "hi")]);
});

test("a new conversation has the model that was chosen, and may be temporary", () => {
  const choose = (id, choice) => ({ type: "choice_made", id, choice });
  const usual = { model: "", temporary: false };
  const chosen = after(
    initialState,
    choose(null, { model: "m" }),
    choose(null, { temporary: true }),
  );
  assert.deepEqual(choiceOf(chosen), { model: "m", temporary: true });
  const begun = after(chosen, asked("k", "a"));
  assert.deepEqual([begun.pending[0].model, begun.pending[0].temporary], ["m", true]);
  const state = after(begun, accepted("k", "t1", "c9"));
  assert.deepEqual(choiceOf(state), { model: "m", temporary: true });
  assert.equal("model" in after(state, asked("k2", "b")).pending.at(-1), false);
  assert.equal(choiceOf(after(state, choose("c9", { model: "" }))).model, "");
  const next = after(state, { type: "conversation_opened", id: null });
  assert.deepEqual(choiceOf(next), usual);
  const back = after(next, { type: "conversation_opened", id: "c9" });
  assert.equal(choiceOf(back).temporary, true);
  const deleted = after(back, { type: "conversation_deleted", id: "c9" });
  assert.deepEqual([deleted.conversationId, deleted.deleted], [null, null]);
  assert.equal(deleted.announcement.text, "Temporary conversation deleted.");
});

test("what is asked before a new conversation has its id joins it", () => {
  const state = after(initialState, asked("k1", "a"), asked("k2", "b"), accepted("k1", "t1", "c9"));
  assert.equal(state.conversationId, "c9");
  const usual = { conversationId: "c9", model: "", temporary: false };
  assert.deepEqual(pendingOf(state), [
    waiting("k1", "a", { ...usual, turnId: "t1" }),
    waiting("k2", "b", usual),
  ]);
});

test("an acknowledgement does not pull a person back who has opened another conversation", () => {
  const state = after(
    initialState,
    asked("k", "a"),
    { type: "conversation_opened", id: "c2" },
    accepted("k", "t1", "c9"),
  );
  assert.deepEqual([state.conversationId, pendingOf(state)], ["c2", []]);
});

test("a refused request stays, says why, and can be dismissed", () => {
  const error = { message: "too long", remedy: "shorten it" };
  const state = after(opened, asked("k", "hi"), { type: "ask_refused", key: "k", error });
  assert.deepEqual(state.pending, [waiting("k", "hi", { error })]);
  assert.deepEqual(state.announcement, { number: 1, text: "Not sent: too long" });
  assert.deepEqual(after(state, received(journal([started("hi")]))).pending, state.pending);
  assert.deepEqual(after(state, { type: "pending_dismissed", key: "k" }).pending, []);
});

test("a request that is asked again names the turn whose answers it takes", () => {
  const again = { type: "asked", key: "k", text: "hi", files: [], again: "t1" };
  assert.deepEqual(after(opened, again).pending, [
    waiting("k", "hi", { sent: false, again: "t1" }),
  ]);
});

test("a stop is remembered per turn", () => {
  const state = after(
    opened,
    { type: "stop_requested", turnId: "t1" },
    { type: "stop_requested", turnId: "t2" },
  );
  assert.deepEqual(state, { ...opened, stopping: { t1: true, t2: true } });
});

test("the shown turn is the newest one until another is selected", () => {
  const state = after(
    opened,
    received(
      journal([
        ["t1", started("a")],
        ["t2", started("b")],
      ]),
    ),
  );
  const selected = after(state, { type: "turn_selected", turnId: "t1" });
  assert.deepEqual(
    [shownTurn(initialState), shownTurn(state).id, shownTurn(selected).id],
    [null, "t2", "t1"],
  );
  assert.deepEqual([selected.panel, selected.view], ["activity", "activity"]);
  assert.equal(after(selected, { type: "conversation_opened", id: "c2" }).selectedTurn, null);
});

test("the clock's skew comes from live records only", () => {
  const records = journal([started("x")]);
  const now = second(1) + 250;
  assert.equal(after(opened, received(records, { now })).skew, 250);
  assert.equal(after(opened, received(records, { now, live: false })).skew, 0);
  assert.equal(after(opened, received([], { now })).skew, 0);
});

test("a screen reader is told the story once, and no tokens or tests", () => {
  const stories = journal(REPAIRED).reduce(
    ({ state, told }, record) => {
      const next = after(state, received([record]), received([record]));
      return {
        state: next,
        told: next.announcement.number > state.announcement.number ? [...told, said(next)] : told,
      };
    },
    { state: opened, told: [] },
  );
  assert.deepEqual(stories.told, [
    "Searching the library.",
    "No tool found; one will be written.",
    "Specification done. reverse(text: str) -> str",
    "Tests done. 2 tests",
    "Implementation done.",
    "Verification failed. 1 of 2 tests failed: test_b",
    "Implementation done.",
    "Verification done. 2 tests passed.",
    "Registration done. reverse is in the library.",
    "Running reverse.",
    "Answer: It is `ba`.",
  ]);
  assert.equal(stories.state.announcement.number, stories.told.length);
});

test("records that come together are announced together, held ones not yet", () => {
  const [a, b, c, d] = journal([started("x"), searching, mismatch("ask"), stopped("By you.")]);
  const state = after(opened, received([a, b, d]));
  assert.deepEqual(state.announcement, { number: 1, text: "Searching the library." });
  const text = "calculate_percentage needs a value: the whole is missing Stopped.";
  assert.deepEqual(after(state, received([c, d])).announcement, { number: 2, text });
});

test("a failed turn is announced with its remedy", () => {
  assert.equal(
    said(after(opened, received(journal([failed("search", "no connection", "Try again.")])))),
    "The request failed: Search failed. Try again. If it fails again, the details name the cause.",
  );
});

test("history is not announced", () => {
  const state = after(
    opened,
    received(journal([started("x"), token("a"), finished("a")]), { live: false }),
  );
  assert.deepEqual(state.announcement, { number: 0, text: "" });
});

test("a changed tool is announced, and what was known of it is shown until it is loaded again", () => {
  const known = after(
    opened,
    { type: "tool_loaded", name: "add", tool: { name: "add" } },
    { type: "tool_loaded", name: "sum", tool: { name: "sum" } },
    { type: "tool_opened", name: "add" },
  );
  const state = after(known, {
    type: "library_changed",
    name: "add",
    change: "removed",
    reason: "Its files were deleted.",
  });
  assert.deepEqual(state, {
    ...opened,
    openTool: "add",
    panel: "library",
    view: "library",
    toolDetails: { add: { tool: { name: "add" }, stale: true }, sum: { tool: { name: "sum" } } },
    announcement: { number: 1, text: "Tool library: add was removed." },
  });
  assert.equal(
    said(after(known, { type: "library_changed", name: "new", change: "added", reason: "" })),
    "Tool library: new was added.",
  );
  assert.equal(
    said(after(known, { type: "library_changed", name: "new", change: "kept_back", reason: "" })),
    "Tool library: new keeps an old version of a tool that it imports.",
  );
});

test("a tool that is loaded again tells the list how often it was used", () => {
  const listed = after(opened, {
    type: "tools_loaded",
    tools: [
      { name: "add", uses: 0, standing: "provisional" },
      { name: "sum", uses: 1, standing: "trusted" },
    ],
  });
  const state = after(listed, {
    type: "tool_loaded",
    name: "add",
    tool: { name: "add", uses: 3, standing: "trusted", code: "" },
  });
  assert.deepEqual(state.tools, [
    { name: "add", uses: 3, standing: "trusted" },
    { name: "sum", uses: 1, standing: "trusted" },
  ]);
});

test("a tool that can't be loaded keeps the reason", () => {
  const error = { message: "no tool x", remedy: "" };
  assert.deepEqual(after(opened, { type: "tool_not_loaded", name: "x", error }), {
    ...opened,
    toolDetails: { x: { error } },
  });
});

test("status, connection and lists are replaced as they come", () => {
  const health = { model: { name: "offline", offline: true, detail: "" } };
  const state = after(
    opened,
    { type: "connection_changed", connection: "online" },
    { type: "health_loaded", health: { old: true } },
    { type: "health_loaded", health },
    { type: "tools_loaded", tools: [{ name: "add" }] },
    { type: "conversations_loaded", conversations: [{ id: "c1" }] },
    { type: "search_changed", text: "ad" },
    { type: "draft_changed", text: "What" },
  );
  assert.deepEqual(state, {
    ...opened,
    connection: "online",
    health,
    tools: [{ name: "add" }],
    conversations: [{ id: "c1" }],
    search: "ad",
    draft: "What",
  });
});

test("a chosen example goes to the composer, which takes the focus", () => {
  const state = after(
    { ...opened, view: "library" },
    { type: "example_chosen", text: "What is 15 percent of 300?" },
  );
  assert.deepEqual(state, {
    ...opened,
    draft: "What is 15 percent of 300?",
    view: "chat",
    focusComposer: 1,
  });
});

test("leaving for the chat keeps the panel of a wide page", () => {
  const state = after(
    opened,
    { type: "view_selected", view: "library" },
    { type: "view_selected", view: "chat" },
  );
  assert.deepEqual(state, { ...opened, view: "chat", panel: "library" });
});

test("a hidden panel comes back with whatever is shown in it", () => {
  const hidden = after(opened, { type: "panel_toggled" });
  assert.deepEqual(hidden, { ...opened, panelOpen: false });
  const shown = [
    { type: "view_selected", view: "library" },
    { type: "tool_opened", name: "add" },
    { type: "turn_selected", turnId: "t1" },
    { type: "panel_toggled" },
  ];
  assert.deepEqual(
    shown.map((action) => after(hidden, action).panelOpen),
    [true, true, true, true],
  );
  assert.equal(after(hidden, { type: "view_selected", view: "chat" }).panelOpen, false);
});

test("a wide panel stays wide until it is hidden, or the conversation is wanted", () => {
  const wide = after(
    opened,
    { type: "panel_toggled" },
    { type: "view_selected", view: "lessons" },
    { type: "panel_widened" },
  );
  assert.deepEqual([wide.wide, wide.panelOpen, wide.view], [true, true, "lessons"]);
  const kept = [
    { type: "tool_opened", name: "add" },
    { type: "conversation_opened", id: "c2", view: "library" }, // by a tool that is run by hand
  ];
  const left = [
    { type: "panel_widened" },
    { type: "panel_toggled" },
    { type: "example_chosen", text: "Add 1 and 2" },
    { type: "conversation_opened", id: "c2" },
    { type: "composer_wanted" },
  ];
  assert.deepEqual(
    [kept, left].map((actions) => actions.map((action) => after(wide, action).wide)),
    [
      [true, true],
      [false, false, false, false, false],
    ],
  );
});

test("a tool's page brings the list up to date, which keeps what only the list knows", () => {
  const line = {
    name: "add",
    uses: 1,
    last_used: null,
    modules: ["math"],
    standing: "provisional",
  };
  const calls = [
    { at: "2026-01-04T00:00:00Z", returned: false },
    { at: "2026-01-03T00:00:00Z", returned: true },
  ];
  const page = { name: "add", uses: 2, standing: "trusted", habits: { calls } };
  const state = after(
    initialState,
    { type: "tools_loaded", tools: [line] },
    { type: "tool_loaded", name: "add", tool: page },
    { type: "tool_changed", tool: { name: "add", uses: 2, standing: "retired" } },
  );
  assert.deepEqual(state.tools, [
    { ...line, uses: 2, last_used: "2026-01-03T00:00:00Z", standing: "retired" },
  ]);
});

test("a notice is shown and announced until dismissed", () => {
  const state = after(opened, {
    type: "noticed",
    message: "Unknown conversation.",
    remedy: "Start a new one.",
  });
  const announcement = { number: 1, text: "Unknown conversation. Start a new one." };
  assert.deepEqual(state, {
    ...opened,
    notice: { message: "Unknown conversation.", remedy: "Start a new one." },
    announcement,
  });
  assert.equal(after(state, { type: "notice_dismissed" }).notice, null);
});

test("lessons are a view of their own, beside the library", () => {
  const state = after(
    initialState,
    { type: "lessons_loaded", lessons: [{ id: "l1" }] },
    { type: "view_selected", view: "lessons" },
  );
  assert.deepEqual(
    [state.lessons, state.view, state.panel],
    [[{ id: "l1" }], "lessons", "lessons"],
  );
});

test("a conversation that isn't here is no fault, and the next one forgets it", () => {
  const gone = after(
    { ...initialState, conversationId: "c9" },
    { type: "noticed", message: "unknown conversation" },
    { type: "conversation_missed" },
  );
  assert.deepEqual([gone.conversationId, gone.missing, gone.notice], [null, true, null]);
  assert.equal(gone.announcement.text, "This conversation isn’t here.");
  assert.equal(after(gone, { type: "conversation_opened", id: "c1" }).missing, false);
  assert.equal(after(gone, asked("k", "x")).missing, false);
});

test("an edited request is another version: the branch ends before it until its turn begins", () => {
  const turns = (state) => shownBranch(state).turns.map(({ id }) => id);
  const begun = (id, after = null) => [id, { type: "turn_started", request: id, after }];
  const talk = after(opened, received(journal([begun("t1"), begun("t2")])));
  const edited = after(talk, { type: "request_edited", turn: talk.threads.c1.turns.t2 });
  assert.deepEqual([edited.draft, edited.draftAfter], ["t2", "t1"]);
  assert.equal(after(edited, { type: "edit_cancelled" }).draftAfter, null);
  const elsewhere = after(edited, { type: "conversation_opened", id: "c2" });
  assert.equal(elsewhere.draftAfter, null);
  assert.equal(after(elsewhere, { type: "conversation_opened", id: "c1" }).draftAfter, "t1");

  const sending = after(edited, asked("k", "two"));
  assert.deepEqual(sending.pending, [waiting("k", "two", { after: "t1" })]);
  assert.deepEqual([turns(sending), sending.draftAfter], [["t1"], null]);
  const next = received(journal([begun("t3", "t1")], { from: 3 }));
  const branched = after(sending, accepted("k", "t3"), next);
  assert.deepEqual([turns(branched), branched.pending], [["t1", "t3"], []]);
  assert.equal(placeOf(branched), undefined); // the newest

  const back = after(branched, { type: "branch_chosen", turnId: "t2", number: 1, count: 2 });
  assert.deepEqual([turns(back), shownTurn(back).id, placeOf(back)], [["t1", "t2"], "t2", "t2"]);
  assert.equal(said(back), "Version 1 of 2 is shown.");
  const again = after(back, { ...asked("k2", "t2"), again: "t2" });
  assert.deepEqual([again.pending[0].after, turns(again)], ["t1", ["t1"]]);
  const further = after(back, received(journal([begun("t4", "t2")], { from: 4 })));
  assert.deepEqual(turns(further), ["t1", "t2", "t4"]);
});
