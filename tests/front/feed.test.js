import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import {
  executed,
  executing,
  failed,
  finished,
  found,
  journal,
  notFound,
  REPAIRED,
  repeated,
  searching,
  second,
  started,
  step,
  tested,
} from "./journal.js";

const { isBare, isOpen, likelyFirst, matching, nodesIn, viewOf } =
  await import("../../web/static/js/feed.js");
const { outcomeOf, titleOf } = await import("../../web/static/js/outcome.js");
const { initialState, reduce } = await import("../../web/static/js/reducer.js");
const { foldEvent, newTurn } = await import("../../web/static/js/turn.js");

const folded = (events) =>
  journal(events).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const lines = (turn) => turn.steps.map((one) => `${titleOf(one)} | ${outcomeOf(one, turn.steps)}`);
const openIn = (state, turn) => {
  const view = viewOf(state.feed, turn);
  return [...nodesIn(turn.steps)]
    .filter(({ path, step }) => isOpen(view, path, step))
    .map(({ path }) => path);
};
const after = (...actions) => actions.reduce(reduce, initialState);

const specification = JSON.stringify({
  name: "reverse",
  parameters: [{ name: "text", annotation: "str", default: null }],
  returns: "str",
});
const message = (id, state, text, within = "") => ({
  type: "delegation",
  id,
  sender: "user",
  recipient: "coder",
  state,
  text,
  within,
});
const PLANNED = [
  started("two things"),
  { type: "plan_made", steps: ["a", "b"].map((id) => ({ id, request: `do ${id}`, needs: [] })) },
  { type: "plan_step", step: "a", state: "started" },
  { ...searching, plan_step: "a" },
  { ...found, plan_step: "a" },
  { type: "plan_step", step: "a", state: "finished", text: "1", seconds: 1 },
  { type: "plan_step", step: "b", state: "started" },
  { ...step("verify", "started"), plan_step: "b" },
  { ...step("verify", "failed", { text: "it ran too long" }), plan_step: "b" },
];

test("each step of a build comes to one line", () => {
  const events = REPAIRED.map((event) =>
    event.step === "specify" && event.artifact ? { ...event, artifact: specification } : event,
  );
  assert.deepEqual(lines(folded(events)), [
    "Search | ",
    "No tool fits | The library is empty.",
    "Specification | reverse(text: str) -> str",
    "Tests | 2 tests written",
    "Tests without an implementation | all 2 fail, as they should",
    "Implementation | ",
    "Verification | 1 of 2 passed, 1 failed",
    "Implementation | ",
    "Verification | 2 of 2 passed",
    "Registration | reverse is in the library, version 1",
    "Execution | reverse → 45.0",
    "Answer | ",
  ]);
});

test("numbers of the search mean something", () => {
  const near = { ...notFound, considered: ["add", "double"], confidences: [0.29, 0.02] };
  const none = { ...notFound, considered: ["add"], confidences: [0.02] };
  assert.deepEqual(lines(folded([started("x"), found, near, none])), [
    "Tool found | calculate_percentage, 93% confidence",
    "No tool fits | add comes closest. The library is empty.",
    "No tool fits | The library is empty.",
  ]);
});

test("a long signature is one line", () => {
  const parameters = ["first", "second", "third"].map((name) => ({
    name,
    annotation: "list[dict[str, float]]",
    default: null,
  }));
  const artifact = JSON.stringify({ name: "join", parameters, returns: "str" });
  assert.equal(
    outcomeOf({ kind: "specify", artifact, text: "" }),
    "join(first: list[dict[str, float]], second: list[dict[str, float]], third: list[dict[str, float]]) -> str",
  );
});

test("planted bugs, plans, agents, faults and files are told in one line", () => {
  const caught = step("strengthen", "finished", {
    artifact: '{"killed": 2, "mutants": 2, "survivors": []}',
  });
  const raised = { outcome: "raised", type_name: "ValueError", message: "no\nlines" };
  const done = [
    started("x"),
    caught,
    message("1", "started", "write it"),
    message("1", "finished", "```text\nIt prints `1`.\n```"),
    { type: "project_act_chosen", action: "create_file", arguments: "{}", reasoning: "" },
    { type: "project_changed", path: "main.py", change: "created", diff: "" },
    executing,
    { type: "execution_failed", tool: "x", execution: raised, seconds: 1 },
    failed("execute", "it raised ValueError"),
  ];
  assert.deepEqual(lines(folded(done)), [
    "Mutation check | caught 2 of 2 planted bugs",
    "Handed to the coder | It prints 1.",
    "Create a file | main.py: created",
    "Execution | ValueError: no",
    "Turn failed | The tool raised ValueError",
  ]);
  assert.deepEqual(lines(folded(PLANNED)), ["Plan | 1 of 2 steps done"]);
});

test("a call tells its place, and then the line that it printed last", () => {
  const told = (...more) => {
    const progress = { type: "execution_progress", tool: "x", done: 2, text: "", place: 0 };
    const events = more.map((one) => ({ ...progress, ...one }));
    return folded([started("x"), executing, ...events]).steps.at(-1).progress;
  };
  assert.equal(told({ place: 3 }), "Number 3 in the queue");
  assert.equal(told({ place: 3 }, { done: 0 }), "");
  assert.equal(told({ done: 0 }, { text: "7 of 9" }), "7 of 9");
});

test("a step that says it all in its line can't be opened", () => {
  const bare = folded([...REPAIRED, step("strengthen", "finished")])
    .steps.filter(isBare)
    .map(({ key }) => key);
  assert.deepEqual(bare, [
    "search-1",
    "no_tool_found-1",
    "register-1",
    "respond-1",
    "strengthen-1",
  ]);
});

test("what runs or failed is open, and what a person opened or closed stays so", () => {
  const running = folded([...REPAIRED.slice(0, 20), step("implement", "started", { attempt: 2 })]);
  assert.deepEqual(openIn(initialState, running), ["verify-1", "implement-2"]);
  const state = after(
    { type: "step_toggled", turnId: "t1", path: "specify-1", open: true },
    { type: "step_toggled", turnId: "t1", path: "verify-1", open: false },
    { type: "step_toggled", turnId: "other", path: "test-1", open: true },
  );
  assert.deepEqual(openIn(state, running), ["specify-1", "implement-2"]);
  assert.deepEqual(openIn(state, folded(REPAIRED)), ["specify-1"]);
});

test("all steps are opened or closed at once, those within others too", () => {
  const turn = folded(PLANNED);
  const all = ["plan-1", "plan-1/1", "plan-1/1/search-1", "plan-1/1/tool_found-1"];
  const opened = after({ type: "steps_toggled", turnId: "t1", open: true });
  assert.deepEqual(openIn(opened, turn), [...all, "plan-1/2", "plan-1/2/verify-1"]);
  assert.deepEqual(openIn(after({ type: "steps_toggled", turnId: "t1", open: false }), turn), []);
  const one = { type: "step_toggled", turnId: "t1", path: "plan-1/1", open: false };
  assert.ok(!openIn(reduce(opened, one), turn).includes("plan-1/1"));
});

test("only what failed is shown, with what it stands in", () => {
  const shown = (turn) => viewOf(after({ type: "errors_only", only: true }).feed, turn).shown;
  assert.deepEqual([...shown(folded(PLANNED))], ["plan-1", "plan-1/2", "plan-1/2/verify-1"]);
  assert.deepEqual([...shown(folded(REPAIRED))], ["verify-1"]);
  assert.equal(viewOf(initialState.feed, folded(REPAIRED)).shown, null);
});

test("a search reads outcomes, code and output without regard to case", () => {
  const { steps } = folded(REPAIRED);
  assert.deepEqual(matching(steps, "TEXT[::-1]"), ["implement-2"]);
  assert.deepEqual(matching(steps, "2 of 2"), ["verify-2"]);
  assert.deepEqual(matching(steps, "45.0"), ["execute-1"]);
  assert.deepEqual(matching(steps, "turn text"), ["implement-1", "implement-2"]);
  assert.deepEqual(matching(steps, " "), []);
  assert.deepEqual(matching(folded(PLANNED).steps, "do b"), ["plan-1/2"]);
});

test("what a search finds is open, unless a person closes it meanwhile", () => {
  const turn = folded(REPAIRED);
  const closed = { type: "step_toggled", turnId: "t1", path: "execute-1", open: false };
  const searched = after(closed, { type: "feed_searched", text: "45.0" });
  assert.deepEqual(openIn(searched, turn), ["verify-1", "execute-1"]);
  assert.deepEqual(openIn(reduce(searched, closed), turn), ["verify-1"]);
  const ended = reduce(searched, { type: "feed_searched", text: null });
  assert.deepEqual(openIn(ended, turn), ["verify-1"]);
});

test("the places of a search are gone through in both ways", () => {
  const searched = after(
    { type: "feed_searched", text: "a" },
    { type: "feed_stepped", by: 1 },
    { type: "feed_stepped", by: 1 },
    { type: "feed_stepped", by: -1 },
  );
  assert.equal(searched.feed.search.at, 1);
  assert.equal(reduce(searched, { type: "feed_searched", text: "ab" }).feed.search.at, 0);
});

test("a wanted step is opened with what it stands in, and shown", () => {
  const state = after(
    { type: "errors_only", only: true },
    { type: "step_wanted", turnId: "t1", path: "plan-1/1/tool_found-1" },
  );
  const { selectedTurn, panel, view, feed } = state;
  assert.deepEqual(
    { selectedTurn, panel, view, errors: feed.errors, goal: feed.goal },
    {
      selectedTurn: "t1",
      panel: "activity",
      view: "activity",
      errors: false,
      goal: { turnId: "t1", path: "plan-1/1/tool_found-1" },
    },
  );
  assert.deepEqual(openIn(state, folded([...PLANNED, finished("1")])).slice(0, 3), [
    "plan-1",
    "plan-1/1",
    "plan-1/1/tool_found-1",
  ]);
  assert.equal(reduce(state, { type: "step_reached" }).feed.goal, null);
});

test("tools that hardly came near stand behind the others", () => {
  const tools = [0.41, 0.05, 0.04, 0.001].map((confidence, i) => ({ name: `t${i}`, confidence }));
  const { likely, rest } = likelyFirst(tools);
  assert.deepEqual(
    [likely, rest].map((all) => all.map(({ name }) => name)),
    [
      ["t0", "t1"],
      ["t2", "t3"],
    ],
  );
  const old = [{ name: "a", confidence: null }];
  assert.deepEqual(likelyFirst(old), { likely: old, rest: [] });
});

test("a verification whose repeated runs differ says so", () => {
  const flaky = [
    started("x"),
    step("verify", "started"),
    tested("implementation", "test_a", "passed"),
    repeated("implementation", "reversed", "test_a failed"),
    step("verify", "failed", { text: "the suite is flaky" }),
  ];
  assert.deepEqual(lines(folded(flaky)), ["Verification | the suite is flaky"]);
});
