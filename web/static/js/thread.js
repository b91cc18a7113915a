// A thread: one conversation as the page knows it, folded from the journal's records in the order of their numbers.

import { foldEvent, newTurn } from "./turn.js";

// `earlier`: the number of the last record that was not loaded, before the first turn; 0 if all turns are here.
// `corrected`: corrections of answers that are not here.
export const emptyThread = {
  lastSeq: 0,
  earlier: 0,
  held: [],
  order: [],
  turns: {},
  corrected: {},
};

// Applies records without a gap, drops known ones, and holds the rest until the gap is filled.
export function addRecords(thread, records) {
  const waiting = new Map();
  for (const record of [...thread.held, ...records]) {
    if (record.seq > thread.lastSeq) waiting.set(record.seq, record);
  }
  const draft = { ...thread, turns: { ...thread.turns } };
  while (waiting.has(draft.lastSeq + 1)) {
    const record = waiting.get(draft.lastSeq + 1);
    waiting.delete(record.seq);
    draft.lastSeq = record.seq;
    addRecord(draft, record);
  }
  const held = [...waiting.values()].sort((a, b) => a.seq - b.seq);
  return { ...draft, held };
}

function addRecord(draft, { turn_id: id, at, event }) {
  const known = draft.turns[id];
  if (!known) draft.order = [...draft.order, id];
  draft.turns[id] = foldEvent(known ?? newTurn(id, Date.parse(at)), event, Date.parse(at));
  if (event.type !== "answer_corrected") return;
  const { turn_id: wrong, tool, version } = event;
  correct(draft, wrong, { by: id, tool, version });
}

function correct(draft, id, corrected) {
  if (draft.turns[id]) draft.turns[id] = { ...draft.turns[id], corrected };
  else draft.corrected = { ...draft.corrected, [id]: corrected };
}

// Puts whole turns before those that are here, unless they are here already.
export function addEarlier(thread, records) {
  const first = records[0]?.seq;
  if (!(first <= thread.earlier)) return thread;
  const older = addRecords({ ...emptyThread, lastSeq: first - 1 }, records);
  const draft = { ...thread, earlier: first - 1, turns: { ...older.turns, ...thread.turns } };
  draft.order = [...older.order, ...thread.order];
  for (const [id, corrected] of Object.entries(thread.corrected)) correct(draft, id, corrected);
  return draft;
}

// One branch of the tree that the turns are: its turns from the first on; by each, the turn that it
// follows ("" for none) and the others that follow the same. It leads through a turn to the newest
// that follows it, by default to the newest of all, or it ends with `last` ("" for before the first).
export function branchOf(thread, through, last) {
  const place = [thread, through, last];
  if (!place.every((part, index) => part === known.place[index]))
    known = { place, branch: climbed(thread, through, last) };
  return known.branch;
}

let known = { place: [], branch: null }; // a page draws the same branch in several places

function climbed({ earlier, order, turns }, through, last) {
  const root = earlier > 0 ? undefined : ""; // what the first turn here follows may not be here
  const parents = {};
  const versions = {};
  const following = new Set([through]);
  let newest = turns[through] ? through : null;
  order.forEach((id, index) => {
    const parent = (parents[id] = turns[id].after ?? order[index - 1] ?? root);
    (versions[parent] ??= []).push(id);
    if (!following.has(parent)) return;
    following.add(id);
    newest = id;
  });
  const branch = [];
  for (let id = last ?? newest ?? order.at(-1); turns[id]; id = parents[id]) branch.push(turns[id]);
  return { turns: branch.toReversed(), parents, versions };
}

export const hasGap = (thread) => thread.held.length > 0;

export const turnsOf = (thread) => thread.order.map((id) => thread.turns[id]);

// The use and cost of the turns that are here.
export const spentIn = (thread) =>
  turnsOf(thread).reduce(
    (sum, { usage }) => ({
      tokens: sum.tokens + (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
      cost: sum.cost + (usage?.cost ?? 0),
    }),
    { tokens: 0, cost: 0 },
  );

// Whether a person wrote the request themselves, so that it can be edited.
export const isWritten = ({ keeps, runs, disputes }) => !keeps && !runs && !disputes;

export const isBusy = (thread) => turnsOf(thread).some((turn) => turn.state === "running");
