import assert from "node:assert/strict";
import test from "node:test";

import { announcementOf } from "../../web/static/js/announcement.js";
import { canBeKept, planOf } from "../../web/static/js/plan.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import {
  executed,
  executing,
  failed,
  finished,
  found,
  journal,
  notFound,
  searching,
  second,
  started,
  step,
  stopped,
  token,
} from "./journal.js";

const planned = (id, ...needs) => ({ id, request: `do ${id}`, needs });
const made = { type: "plan_made", steps: [planned("a"), planned("b"), planned("c", "a", "b")] };
const part = (id, state, more = {}) => ({
  type: "plan_step",
  step: id,
  state,
  tool: null,
  text: "",
  seconds: 0,
  ...more,
});
const within = (id, ...events) => events.map((event) => ({ ...event, plan_step: id }));
const done = (id, text) => part(id, "finished", { tool: `tool_${id}`, text, seconds: 1.5 });

const BEGUN = [
  started("do it all"),
  searching,
  notFound,
  step("specify", "started"),
  step("specify", "finished", { text: "3 steps" }),
  made,
];
const WORKED = [
  ...BEGUN,
  part("a", "started"),
  part("b", "started"),
  ...within("a", searching, found),
  ...within("b", searching, notFound, step("test", "started")),
  ...within("a", executing, executed),
  done("a", "1"),
  ...within("b", step("test", "finished"), {
    type: "files_made",
    tool: "x",
    files: [{ name: "b.txt" }],
  }),
  done("b", "2"),
  part("c", "started"),
  done("c", "3"),
];
const ENDED = [...WORKED, token("Done."), finished("Done.")];

const folded = (events) =>
  journal(events).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const states = (turn) =>
  planOf(turn.steps).parts.map(({ id, state, tool, text, steps }) => [
    id,
    state,
    tool,
    text,
    steps.map((s) => `${s.kind} ${s.state}`),
  ]);

test("a plan waits until its steps begin", () => {
  assert.deepEqual(
    states(folded(BEGUN)),
    ["a", "b", "c"].map((id) => [id, "waiting", null, "", []]),
  );
});

test("what a step causes belongs to it, also where steps run at once", () => {
  const turn = folded(WORKED);
  assert.deepEqual(states(turn), [
    ["a", "done", "tool_a", "1", ["search done", "tool_found done", "execute done"]],
    ["b", "done", "tool_b", "2", ["search done", "no_tool_found done", "test done"]],
    ["c", "done", "tool_c", "3", []],
  ]);
  assert.deepEqual(
    turn.steps.map((s) => `${s.kind} ${s.state}`),
    ["search done", "no_tool_found done", "specify done", "plan done"],
  );
  assert.deepEqual(turn.made, [{ name: "b.txt" }]);
  assert.equal(turn.tool, null);
});

test("a plan that worked can be kept, one without a tool or an end can't", () => {
  assert.equal(canBeKept(folded(ENDED)), true);
  assert.equal(canBeKept(folded(WORKED)), false);
  assert.equal(
    canBeKept(
      folded([
        ...ENDED.slice(0, -4),
        part("c", "started"),
        part("c", "finished", { text: "told" }),
        token("x"),
        finished("x"),
      ]),
    ),
    false,
  );
  assert.equal(canBeKept(folded([started("hi"), token("hi"), finished("hi")])), false);
});

test("a plan that one tool did shows the tools of its steps, and is kept already", () => {
  const ended = ["a", "b", "c"].map((id) => part(id, "finished", { tool: `do_${id}` }));
  const turn = folded([...BEGUN, ...ended, token("x"), finished("x")]);
  assert.deepEqual(states(turn), [
    ["a", "done", "do_a", "", []],
    ["b", "done", "do_b", "", []],
    ["c", "done", "do_c", "", []],
  ]);
  assert.equal(planOf(turn.steps).state, "done");
  assert.equal(canBeKept(turn), false);
});

test("a step that fails marks the plan, and stops what was beside it", () => {
  const turn = folded([
    ...BEGUN,
    part("a", "started"),
    part("b", "started"),
    ...within("b", searching),
    part("a", "failed", { text: "no" }),
    failed("plan", "the step a failed: no"),
  ]);
  assert.deepEqual(states(turn), [
    ["a", "failed", null, "no", []],
    ["b", "stopped", null, "", ["search stopped"]],
    ["c", "stopped", null, "", []],
  ]);
  assert.equal(planOf(turn.steps).state, "failed");
});

test("a stop stops the steps that had not ended", () => {
  const turn = folded([
    ...BEGUN,
    part("a", "started"),
    done("a", "1"),
    part("b", "started"),
    stopped("Stopped on request."),
  ]);
  assert.deepEqual(
    states(turn).map(([, state]) => state),
    ["done", "stopped", "stopped"],
  );
});

test("an event of an unknown step changes nothing", () => {
  const before = folded(BEGUN);
  assert.deepEqual(foldEvent(before, { ...searching, plan_step: "z" }, second(9)), before);
});

test("a screen reader hears of steps, not of what they cause", () => {
  assert.deepEqual(
    [made, part("b", "started"), done("b", "1"), within("a", searching)[0]].map((event) =>
      announcementOf({ event }, folded(BEGUN)),
    ),
    ["It takes 3 steps.", "", "Step 2 done: 1", ""],
  );
});

test("a turn that keeps a plan names the turn that had it", () => {
  assert.equal(folded([{ ...started("do it all"), keeps: "t0" }]).keeps, "t0");
});
