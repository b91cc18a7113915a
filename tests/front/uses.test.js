import assert from "node:assert/strict";
import test from "node:test";

import { usesOver } from "../../web/static/js/uses.js";

const NOW = new Date(2026, 4, 20, 12).getTime();
const DAY = 86_400_000;
const daysAgo = (days, returned = true) => ({
  at: new Date(2026, 4, 20 - days, 12).toISOString(),
  returned,
});
const isoOf = (place) => new Date(place).toISOString().slice(0, 10);

test("few days are drawn one by one, at least two weeks of them, with those without a call", () => {
  const calls = [daysAgo(0), daysAgo(0), daysAgo(0, false), daysAgo(3)];
  const { unit, places, returned, failed } = usesOver(calls, NOW);
  assert.deepEqual(
    [unit, isoOf(places[0]), isoOf(places.at(-1))],
    ["day", "2026-05-07", "2026-05-20"],
  );
  assert.deepEqual(returned, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2]);
  assert.deepEqual(failed, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("calls that reach further back are counted by week, those of today in the last one", () => {
  const { unit, places, returned } = usesOver(
    [daysAgo(0), daysAgo(6), daysAgo(7), daysAgo(69)],
    NOW,
  );
  assert.deepEqual([unit, places.length, places[1] - places[0]], ["week", 10, 7 * DAY]);
  assert.deepEqual(returned, [1, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
});

test("of what is older than a year nothing is drawn", () => {
  const { places, returned } = usesOver([daysAgo(1), daysAgo(5_000)], NOW);
  assert.deepEqual([places.length, returned.reduce((sum, n) => sum + n, 0)], [53, 1]);
});
