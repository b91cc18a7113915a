// A hidden tab's report of turns that ended: words for its title, and for a notification.

import { causeOf } from "./cause.js";
import { firstLine } from "./format.js";
import { t } from "./texts.js";

// Seconds that a turn takes before it is worth a notification.
const LONG = 10;
const ENDS = new Set(["asked", "declined", "failed", "stopped"]);

// The turns that ran in one state of a thread and had ended in the next.
export const endedBetween = (before, after) =>
  before.order
    .filter((id) => before.turns[id].state === "running" && after.turns[id].state !== "running")
    .map((id) => after.turns[id]);

const endOf = ({ outcome, request }) =>
  t(`ended-${ENDS.has(outcome) ? outcome : "answered"}`, { request: firstLine(request) });

export const titleOf = (unseen, name) =>
  unseen.length > 0 ? `(${unseen.length}) ${endOf(unseen.at(-1))}` : name;

// Null for what a person has not had to wait for, or has ended.
export const noticeOf = (turn) =>
  turn.seconds >= LONG && turn.outcome !== "stopped"
    ? { title: endOf(turn), body: turn.failure ? causeOf(turn) : turn.answer.slice(0, 200) }
    : null;
