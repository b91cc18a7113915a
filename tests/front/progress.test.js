import assert from "node:assert/strict";
import test from "node:test";

import "./stages.js";
import {
  failed,
  finished,
  journal,
  REPAIRED,
  searching,
  second,
  started,
  step,
  token,
} from "./journal.js";

const { progress } = await import("../../web/static/js/progress.js");
const { foldEvent, newTurn } = await import("../../web/static/js/turn.js");

const at = (node, symbol = "") => ({ type: "stage_entered", node, symbol });
const folded = (...events) =>
  journal([started("x"), ...events]).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const told = (turn) => progress(turn)?.map(({ stage, state }) => `${stage} ${state}`) ?? null;
const ran = (name, state = "finished", more = {}) => [
  step(name, "started", more),
  step(name, state, more),
];
const BUILD = [
  at("gather"),
  at("search"),
  searching,
  at("specify"),
  ...ran("specify"),
  at("test"),
  ...ran("test"),
  at("implement"),
  ...ran("implement"),
  at("verify"),
];
const AHEAD = ["register waiting", "prepare waiting", "execute waiting", "respond waiting"];

test("a turn that runs a tool, or needs none, shows no bar", () => {
  const reuse = [at("gather"), at("search"), searching, at("execute"), at("respond"), token("a")];
  assert.equal(progress(folded(...reuse)), null);
  assert.equal(progress(folded(...reuse, finished("a"))), null);
  assert.equal(progress(folded(at("gather"), at("search"), at("specify"))), null);
});

test("a turn with a plan shows its plan alone", () => {
  assert.equal(progress(folded(at("gather"), at("search"), at("specify"), at("plan"))), null);
});

test("the bar has the stages that the turn came to, then those that usually follow", () => {
  assert.deepEqual(told(folded(...BUILD.slice(0, 7))), [
    "search done",
    "specify done",
    "test running",
    "implement waiting",
    "verify waiting",
    ...AHEAD,
  ]);
  assert.deepEqual(told(folded(at("gather"), at("search"), at("specify"), at("delegate"))), [
    "search done",
    "specify done",
    "delegate running",
    "respond waiting",
  ]);
});

test("a stage that is entered again counts its attempts and shows its last step", () => {
  const repaired = folded(
    ...BUILD,
    ...ran("verify", "failed"),
    at("repair"),
    ...ran("implement", "finished", { attempt: 2, prompt: "repair" }),
    at("verify"),
    step("verify", "started", { attempt: 2 }),
  );
  assert.deepEqual(progress(repaired).slice(4, 6), [
    { stage: "verify", state: "running", attempt: 2, path: "verify-2" },
    { stage: "repair", state: "done", attempt: 1, path: "implement-2" },
  ]);
});

test("what failed is told while it is repaired", () => {
  const turn = folded(...BUILD, ...ran("verify", "failed"), at("repair"));
  assert.deepEqual(told(turn), [
    "search done",
    "specify done",
    "test done",
    "implement done",
    "verify failed",
    "repair running",
    ...AHEAD,
  ]);
});

test("trying planted bugs, and writing tests against them, is a stage of its own", () => {
  const turn = folded(
    ...BUILD,
    ...ran("verify"),
    at("strengthen"),
    ...ran("strengthen"),
    step("test", "started", { attempt: 2, prompt: "more_tests" }),
  );
  assert.deepEqual(told(turn).slice(2, 6), [
    "test done",
    "implement done",
    "verify done",
    "strengthen running",
  ]);
  assert.deepEqual(progress(turn)[1 + 1].path, "test-1");
});

test("an ended turn has no stages that wait", () => {
  const ended = folded(...BUILD, failed("verify", "no"));
  assert.deepEqual(told(ended).at(-1), "verify failed");
});

test("a stage without a step of its own leads to what came next", () => {
  const turn = folded(
    ...BUILD,
    ...ran("verify"),
    at("register"),
    ...ran("register"),
    at("prepare"),
    at("execute"),
    { type: "executing", tool: "x", arguments: "{}" },
  );
  assert.deepEqual(
    progress(turn)
      .slice(-4)
      .map(({ stage, path }) => [stage, path]),
    [
      ["register", "register-1"],
      ["prepare", "execute-1"],
      ["execute", "execute-1"],
      ["respond", null],
    ],
  );
});

test("journals of older versions have the stages that their steps tell of", () => {
  assert.deepEqual(told(folded(...REPAIRED.slice(1))), [
    "search done",
    "specify done",
    "test done",
    "implement done",
    "verify done",
    "repair done",
    "register done",
    "execute done",
    "respond done",
  ]);
});
