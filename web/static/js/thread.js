// A thread: one conversation as the page knows it, folded from the journal's records in the order of their numbers.

import { foldEvent, newTurn } from "./turn.js";

export const emptyThread = { lastSeq: 0, held: [], order: [], turns: {} };

// Applies records without a gap, drops known ones, and holds the rest until the gap is filled.
export function addRecords(thread, records) {
  const waiting = new Map();
  for (const record of [...thread.held, ...records]) {
    if (record.seq > thread.lastSeq) waiting.set(record.seq, record);
  }
  const draft = { lastSeq: thread.lastSeq, order: thread.order, turns: { ...thread.turns } };
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
  const wrong = event.type === "answer_corrected" && draft.turns[event.turn_id];
  if (wrong) {
    const { tool, version } = event;
    draft.turns[wrong.id] = { ...wrong, corrected: { by: id, tool, version } };
  }
}

export const hasGap = (thread) => thread.held.length > 0;

export const turnsOf = (thread) => thread.order.map((id) => thread.turns[id]);

// Whether a person wrote the request themselves, so that it can be edited.
export const isWritten = ({ keeps, runs, disputes }) => !keeps && !runs && !disputes;

export const isBusy = (thread) => turnsOf(thread).some((turn) => turn.state === "running");
