// Charts of tables: what can be drawn, what is drawn first, and which points.

import assert from "node:assert/strict";
import test from "node:test";
import {
  chartable,
  chosenWith,
  columnKind,
  formsFor,
  pointsOf,
  timeOf,
  typed,
} from "../../web/static/js/charts.js";
import { withFocused } from "../../web/static/js/virtual.js";

const table = (columns, ...rows) => ({ columns, rows });
const first = (...of) => chartable(table(...of))?.first;

test("a column is numbers, times, texts, or none of them", () => {
  const kind = (...cells) =>
    columnKind(
      cells.map((cell) => [cell]),
      0,
    );
  assert.equal(kind(1, null, 2.5), "number");
  assert.equal(kind("2024-01-01", "2024-01-02T10:00:00Z", ""), "time");
  assert.equal(kind("2024-01", "2024-02"), "time");
  assert.equal(kind("a", "b"), "text");
  assert.equal(kind("2024-13-45", "a"), "text");
  for (const mixed of [[1, "a"], [{ a: 1 }], [null, ""], [NaN]]) assert.equal(kind(...mixed), null);
});

test("moments without a zone are those of the axis", () => {
  const noon = Date.UTC(2024, 0, 1, 12);
  assert.deepEqual(
    ["2024-01-01 12:00", "2024-01-01T12:00:00", "2024-01-01T13:00:00+01:00"].map(timeOf),
    [noon, noon, noon],
  );
});

test("a table offers the chart that fits its columns", () => {
  const days = [
    ["2024-01-02", 3],
    ["2024-01-01", 4],
  ];
  assert.deepEqual(first(["day", "price"], ...days), { x: 0, ys: [1], form: "line" });
  assert.deepEqual(first(["name", "n"], ["a", 1], ["b", 2]), { x: 0, ys: [1], form: "bar" });
  assert.deepEqual(first(["month", "rest"], [1, 9], [2, 7]), { x: 0, ys: [1], form: "line" });
  assert.deepEqual(first(["w", "h"], [2, 9], [1, 7]), { x: 0, ys: [1], form: "scatter" });
  assert.deepEqual(first(["n"], [5], [3]), { x: null, ys: [0], form: "line" });
  assert.deepEqual(first(["name", "n"], ["a", 1], ["a", 2]), { x: null, ys: [1], form: "line" });
  for (const [, ...none] of [
    ["one row", ["a", "b"], ["x", 1]],
    ["no numbers", ["a"], ["x"], ["y"]],
    ["numbers beside texts", ["a"], [1], ["x"]],
    ["nothing", ["a"], [null], [null]],
  ])
    assert.equal(chartable(table(...none)), null);
});

test("columns of another scale are not drawn at first", () => {
  const rows = [
    ["a", 1, 2, 90_000],
    ["b", 3, 1, 80_000],
  ];
  assert.deepEqual(first(["name", "x", "y", "z"], ...rows).ys, [1, 2]);
});

test("another choice always leaves something to draw, in a form that fits", () => {
  const facts = chartable(table(["name", "a", "b"], ["x", 1, 2], ["y", 2, 1]));
  const bars = facts.first;
  const changed = (part, from = bars) => chosenWith(from, part, facts, 2);
  assert.deepEqual(changed({ ys: [] }).ys, [1]);
  assert.deepEqual(changed({ x: 1 }), { x: 1, ys: [2], form: "bar" });
  assert.equal(changed({ x: 0 }, { x: 1, ys: [2], form: "scatter" }).form, "bar");
  const one = chartable(table(["n"], [3], [1]));
  assert.deepEqual(chosenWith(one.first, { x: 0 }, one, 2).ys, [0]);
});

test("points are in the order of their places, with gaps where a cell is empty", () => {
  const days = table(["day", "price"], ["2024-01-03", 5], [null, 9], ["2024-01-01", null]);
  const facts = chartable(days);
  const { places, series, of } = pointsOf(days, facts, facts.first);
  assert.deepEqual(
    [places, series, of],
    [[Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 3)], [{ name: "price", values: [null, 5] }], null],
  );
});

test("of many rows so many are drawn that no peak is lost", () => {
  const rows = Array.from({ length: 100_000 }, (_, n) => [n, n === 54_321 ? 999 : n % 7]);
  const many = table(["n", "v"], ...rows);
  const facts = chartable(many);
  const lines = pointsOf(many, facts, { x: 0, ys: [1], form: "line" });
  assert.ok(lines.places.length <= 4000 && lines.series[0].values.includes(999));
  assert.equal(lines.of, 100_000);
  assert.equal(pointsOf(many, facts, { x: 0, ys: [1], form: "scatter" }).places.length, 4000);
});

test("a text table gets its numbers, and names of digits stay names", () => {
  const texts = table(["id", "n", "x"], ["007", "1", "1e3"], ["008", "", "-.5"]);
  assert.deepEqual(typed(texts).rows, [
    ["007", 1, 1000],
    ["008", null, -0.5],
  ]);
  assert.deepEqual(typed(table(["n"], ["12345678901234567890"])).rows, [["12345678901234567890"]]);
});

test("hostile names and values are drawn as what they are", () => {
  const rows = [
    ["<img src=x onerror=alert(1)>", 1],
    ["__proto__", Infinity],
    ["constructor", 2],
  ];
  assert.equal(chartable(table(["__proto__", "toString"], ...rows)), null);
  const facts = chartable(table(["__proto__", "toString"], rows[0], rows[2]));
  assert.deepEqual(facts.first, { x: 0, ys: [1], form: "bar" });
});

test("places offer the forms that can show them", () => {
  assert.deepEqual(formsFor("text", 3), ["bar", "line"]);
  assert.deepEqual(formsFor("time", 3), ["line", "bar", "scatter"]);
  assert.deepEqual(formsFor("number", 999), ["line", "scatter"]);
});

test("a row with the focus stays drawn", () => {
  assert.deepEqual(withFocused([4, 5], 1, 9), [1, 4, 5]);
  assert.deepEqual(withFocused([4, 5], 5, 9), [4, 5]);
  assert.deepEqual(withFocused([4, 5], 12, 9), [4, 5]);
  assert.deepEqual(withFocused([4, 5], null, 9), [4, 5]);
});
