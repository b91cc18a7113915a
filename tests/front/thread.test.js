import assert from "node:assert/strict";
import test from "node:test";

import {
  addEarlier,
  addRecords,
  branchOf,
  emptyThread,
  hasGap,
  isBusy,
  isWritten,
  turnsOf,
} from "../../web/static/js/thread.js";
import {
  finished,
  journal,
  REPAIRED,
  searching,
  second,
  started,
  stopped,
  token,
} from "./journal.js";

const talk = journal([started("a"), searching, token("x"), token("y"), finished("xy")]);
const whole = addRecords(emptyThread, talk);

test("records are folded in the order of their numbers", () => {
  const { held, lastSeq, order, turns } = addRecords(emptyThread, talk.toReversed());
  assert.deepEqual({ held, lastSeq, order }, { held: [], lastSeq: 5, order: ["t1"] });
  assert.equal(turns.t1.answer, "xy");
  assert.deepEqual(addRecords(emptyThread, talk.toReversed()), whole);
});

test("records that are known are dropped", () => {
  assert.deepEqual(addRecords(whole, talk), whole);
  assert.deepEqual(addRecords(emptyThread, [...talk, ...talk]), whole);
});

test("records after a gap are held until it is filled", () => {
  const [a, b, c, d, e] = talk;
  const gapped = addRecords(addRecords(emptyThread, [a, b]), [e, d]);
  assert.deepEqual(gapped, { ...addRecords(emptyThread, [a, b]), held: [d, e] });
  assert.equal(hasGap(gapped), true);
  assert.deepEqual(addRecords(gapped, [e]), gapped);
  assert.deepEqual(addRecords(gapped, [c]), whole);
  assert.equal(hasGap(whole), false);
});

test("history that comes after live records gives what live records alone give", () => {
  const records = journal(REPAIRED);
  const live = records.reduce((thread, record) => addRecords(thread, [record]), emptyThread);
  for (let cut = 0; cut <= records.length; cut += 1) {
    const overlap = Math.max(0, cut - 3);
    const early = addRecords(addRecords(emptyThread, records.slice(cut)), records.slice(0, cut));
    const resumed = addRecords(
      addRecords(emptyThread, records.slice(0, cut)),
      records.slice(overlap),
    );
    assert.deepEqual(early, live);
    assert.deepEqual(resumed, live);
  }
});

test("a record without a number is dropped", () => {
  assert.deepEqual(addRecords(whole, [{ ...talk[2], seq: 0 }]), whole);
  assert.deepEqual(addRecords(emptyThread, [{ ...talk[0], seq: 0 }]), emptyThread);
});

test("two turns at once do not mix", () => {
  const thread = addRecords(
    emptyThread,
    journal([
      ["t1", started("a")],
      ["t2", started("b")],
      ["t2", token("B")],
      ["t1", token("A")],
      ["t2", finished("B")],
      ["t1", token("A")],
    ]),
  );
  assert.deepEqual(thread.order, ["t1", "t2"]);
  assert.deepEqual(
    turnsOf(thread).map(({ id, request, state, answer, startedAt }) => ({
      id,
      request,
      state,
      answer,
      startedAt,
    })),
    [
      { id: "t1", request: "a", state: "running", answer: "AA", startedAt: second(1) },
      { id: "t2", request: "b", state: "done", answer: "B", startedAt: second(2) },
    ],
  );
  assert.equal(isBusy(thread), true);
  assert.equal(isBusy(addRecords(thread, journal([stopped("By you.")], { from: 7 }))), false);
});

test("folding changes no thread that exists", () => {
  const before = addRecords(emptyThread, talk.slice(0, 3));
  const copy = structuredClone(before);
  addRecords(before, talk);
  assert.deepEqual(before, copy);
  assert.deepEqual(emptyThread, {
    lastSeq: 0,
    earlier: 0,
    held: [],
    order: [],
    turns: {},
    corrected: {},
  });
});

test("only a request that a person wrote can be edited", () => {
  const turns = [{}, { keeps: "t1" }, { runs: "add" }].map((more) =>
    isWritten({ keeps: "", runs: "", ...more }),
  );
  assert.deepEqual(turns, [true, false, false]);
});

test("a later turn marks the answer that it corrects", () => {
  const fixed = { type: "answer_corrected", tool: "add", version: 2, turn_id: "t1" };
  const entries = [started("a"), finished("x"), ["t2", started("no")], ["t2", fixed]];
  const { turns } = addRecords(emptyThread, journal(entries));
  assert.deepEqual(turns.t1.corrected, { by: "t2", tool: "add", version: 2 });
  assert.equal(turns.t2.corrected, null);
});

test("a turn keeps what witnesses say of its result, and how many earlier answers it changes", () => {
  const said = { type: "witnessed", tool: "add", agree: 1, of: 2, other: "4" };
  const again = { type: "answers_recomputed", tool: "add", version: 2, computed: 31, changed: 2 };
  const { turns } = addRecords(emptyThread, journal([started("a"), ["t1", said], ["t1", again]]));
  assert.deepEqual(turns.t1.checked, { agree: 1, of: 2, other: "4" });
  assert.deepEqual(turns.t1.recomputed, { tool: "add", computed: 31, changed: 2 });
});

test("earlier turns go before the ones that are here, with the corrections that came meanwhile", () => {
  const [a, b, c] = ["t1", "t2", "t3"].map((id, i) =>
    [started(id), finished(id)].map((event, n) => ({
      conversation_id: "c",
      turn_id: id,
      seq: 2 * i + n + 1,
      at: new Date(second(i)).toISOString(),
      event,
    })),
  );
  const correction = { type: "answer_corrected", turn_id: "t1", tool: "add", version: 2 };
  const corrects = { ...c[1], seq: 7, event: correction };
  const newest = addRecords({ ...emptyThread, lastSeq: 4, earlier: 4 }, [...c, corrects]);
  const more = addEarlier(addEarlier(newest, b), b);
  assert.deepEqual(
    turnsOf(more).map((turn) => turn.answer),
    ["t2", "t3"],
  );
  assert.deepEqual([more.earlier, more.lastSeq], [2, 7]);
  const all = addEarlier(more, a);
  assert.deepEqual(all.order, ["t1", "t2", "t3"]);
  assert.deepEqual(all.turns.t1.corrected, { by: "t3", tool: "add", version: 2 });
  assert.equal(all.earlier, 0);
});

test("a branch leads to the newest turn, or through a turn that is named", () => {
  const begun = (turn_id, after) => ({ turn_id, event: { type: "turn_started", after } });
  const records = [
    begun("a", null),
    begun("b", null), // follows a
    begun("c", "b"),
    begun("b2", "a"),
    begun("a2", ""),
    begun("c2", "b2"),
  ].map((record, n) => ({ ...record, seq: n + 1, at: "2026-01-01T00:00:00Z" }));
  const thread = addRecords(emptyThread, records);
  const ids = (...place) => branchOf(thread, ...place).turns.map(({ id }) => id);
  assert.deepEqual(ids(), ["a", "b2", "c2"]);
  assert.deepEqual(ids("b"), ["a", "b", "c"]);
  assert.deepEqual(ids("a2"), ["a2"]);
  assert.deepEqual(ids("gone"), ["a", "b2", "c2"]);
  assert.deepEqual(ids("b", "a"), ["a"]);
  assert.deepEqual(ids("b", ""), []);
  const { parents, versions } = branchOf(thread);
  assert.equal(parents.b2, "a");
  assert.deepEqual(versions, { "": ["a", "a2"], a: ["b", "b2"], b: ["c"], b2: ["c2"] });
  const late = addRecords({ ...emptyThread, lastSeq: 3, earlier: 3 }, records.slice(3));
  assert.deepEqual(
    branchOf(late).turns.map(({ id }) => id),
    ["b2", "c2"],
  );
  const unknown = addRecords({ ...emptyThread, lastSeq: 1, earlier: 1 }, records.slice(1));
  assert.equal(branchOf(unknown).parents.b, undefined);
  const [first, ...others] = records.slice(1);
  const known = { ...first, event: { ...first.event, after: "a" } }; // as the server tells it
  const beside = addRecords({ ...emptyThread, lastSeq: 1, earlier: 1 }, [known, ...others]);
  assert.deepEqual(branchOf(beside).versions.a, ["b", "b2"]);
  const complete = addEarlier(late, records.slice(0, 3));
  assert.deepEqual(
    branchOf(complete).turns.map(({ id }) => id),
    ["a", "b2", "c2"],
  );
});
