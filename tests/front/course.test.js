import assert from "node:assert/strict";
import test from "node:test";

import { marksOf } from "../../web/static/js/course.js";
import { planOf } from "../../web/static/js/plan.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import { failed, finished, journal, second, started, stopped, token } from "./journal.js";

const at = (node, symbol = "", plan_step = "") => ({
  type: "stage_entered",
  node,
  symbol,
  plan_step,
});
const folded = (...events) =>
  journal([started("x"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const visits = ({ course }) => course.map(({ node, state, seconds }) => [node, state, seconds]);
const WAY = [at("gather"), at("search", "new"), at("execute", "fits")];

test("the present stage runs, those before it are done with the time that they took", () => {
  const turn = folded(...WAY);
  assert.deepEqual(visits(turn), [
    ["gather", "done", 1],
    ["search", "done", 1],
    ["execute", "running", null],
  ]);
  assert.deepEqual(turn.course[1], {
    node: "search",
    symbol: "new",
    state: "done",
    startedAt: second(3),
    seconds: 1,
  });
});

test("the last stage ends as its turn does", () => {
  const ended = (last) => visits(folded(...WAY, token("a"), last)).at(-1);
  assert.deepEqual(ended(finished("a")), ["execute", "done", 2]);
  assert.deepEqual(ended(failed("execute", "no")), ["execute", "failed", 2]);
  assert.deepEqual(ended(stopped("enough")), ["execute", "stopped", 2]);
});

test("a turn of an older journal has no stages", () => {
  assert.deepEqual(folded(token("a"), finished("a")).course, []);
});

test("the stages of a plan's step are the step's, and end with it", () => {
  const step = (id, state) => ({
    type: "plan_step",
    step: id,
    state,
    tool: null,
    text: "",
    seconds: 1,
  });
  const planned = (id) => ({ id, request: id, needs: [] });
  const begun = [
    at("plan", "steps"),
    { type: "plan_made", steps: [planned("a"), planned("b"), planned("c")] },
    ...["a", "b", "c"].map((id) => step(id, "started")),
  ];
  const inside = ["a", "b", "c"].flatMap((id) => [at("gather", "", id), at("search", "new", id)]);
  const turn = folded(
    ...begun,
    ...inside,
    step("a", "finished"),
    step("b", "failed"),
    failed("plan", "b failed"),
  );
  const ends = planOf(turn.steps).parts.map((part) =>
    visits(part).map(([node, state]) => `${node} ${state}`),
  );
  assert.deepEqual(ends, [
    ["gather done", "search done"],
    ["gather done", "search failed"],
    ["gather done", "search stopped"],
  ]);
  assert.deepEqual(
    visits(turn).map(([node, state]) => [node, state]),
    [["plan", "failed"]],
  );
});

test("the graph is marked by the last visit of each stage and by the ways that were taken", () => {
  const { course } = folded(at("verify"), at("repair", "failed"), at("verify", "repaired"));
  assert.deepEqual(marksOf(course), {
    nodes: { verify: "running", repair: "done" },
    taken: new Set(["verify repair", "repair verify"]),
  });
});
