import assert from "node:assert/strict";
import test from "node:test";

import { announcementOf } from "../../web/static/js/announcement.js";
import { reachedOf } from "../../web/static/js/cause.js";
import { answerOf, foldEvent, isCutOff, newTurn } from "../../web/static/js/turn.js";
import {
  executed,
  executing,
  failed,
  finished,
  found,
  journal,
  mismatch,
  notFound,
  REPAIRED,
  repeated,
  result,
  returned,
  searching,
  second,
  started,
  step,
  stopped,
  tested,
  token,
  USAGE,
} from "./journal.js";

function folded(events) {
  return journal(events).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
}

test("a turn that waits for the set-up says for what, and how long it took", () => {
  const [waits, waited] = ["started", "finished"].map((state) => ({
    type: "waiting",
    part: "sandbox",
    state,
    seconds: state === "started" ? 0 : 12,
  }));
  const told = (events) =>
    folded(events).steps.map(({ kind, state, text, seconds }) => [kind, state, text, seconds]);
  assert.deepEqual(told([started("x"), waits]), [
    ["waiting", "running", "code runs there only", null],
  ]);
  assert.deepEqual(told([started("x"), waits, waited]), [
    ["waiting", "done", "code runs there only", 12],
  ]);
});

test("a turn in the queue says its place, and how long it waited", () => {
  const place = (n, seconds = 0) => ({ type: "turn_queued", place: n, seconds });
  const told = (...places) =>
    folded([started("x"), ...places]).steps.map((s) => [s.kind, s.state, s.text, s.seconds]);
  assert.deepEqual(told(place(23)), [["queued", "running", "Number 23 in the queue", null]]);
  assert.deepEqual(told(place(3), place(1)), [
    ["queued", "running", "Number 1 in the queue", null],
  ]);
  const blocked = { ...place(1), reason: "no worker runs" };
  assert.deepEqual(told(blocked), [
    [
      "queued",
      "running",
      "Number 1 in the queue: the machines that run requests are still being set up",
      null,
    ],
  ]);
  assert.deepEqual(told(place(3), place(0, 12)), [["queued", "done", "", 12]]);
});

const outline = (turn) =>
  turn.steps.map(({ key, state, attempt, seconds }) => [key, state, attempt, seconds]);

test("a reused tool makes a turn of four steps", () => {
  const events = [
    started("15% of 300?"),
    searching,
    found,
    executing,
    executed,
    token("It is "),
    token("45."),
    finished("It is 45.", "calculate_percentage"),
  ];
  const step = { attempt: 1, state: "done" };
  assert.deepEqual(folded(events), {
    id: "t1",
    startedAt: second(1),
    after: null,
    request: "15% of 300?",
    answers: [],
    keeps: "",
    runs: "",
    files: [],
    made: [],
    state: "done",
    course: [],
    steps: [
      { ...step, key: "search-1", kind: "search", startedAt: second(2), seconds: 0.2 },
      {
        ...step,
        key: "tool_found-1",
        kind: "tool_found",
        startedAt: second(3),
        seconds: null,
        tool: "calculate_percentage",
        confidence: 0.93,
        reason: "",
        understood: "",
        considered: ["calculate_percentage", "add"],
        confidences: [0.41, 0.07],
      },
      {
        ...step,
        key: "execute-1",
        kind: "execute",
        startedAt: second(4),
        seconds: 0.3,
        tool: "calculate_percentage",
        arguments: executing.arguments,
        execution: returned,
      },
      { ...step, key: "respond-1", kind: "respond", startedAt: second(6), seconds: 2 },
    ],
    thoughts: [],
    again: 0,
    silent: null,
    answer: "It is 45.",
    tool: "calculate_percentage",
    outcome: "answered",
    nearest: [],
    usage: USAGE,
    checked: null,
    recomputed: null,
    corrected: null,
    disputes: "",
    budget: null,
    seconds: 4.5,
    failure: null,
    stopReason: "",
    questions: null,
  });
});

test("a request that was rewritten says how it was understood", () => {
  const rewritten = { ...found, standalone: "15 percent of 400" };
  const understood = (events) =>
    folded(events).steps.find((s) => s.kind === "tool_found").understood;
  assert.equal(understood([started("and of 400?"), searching, rewritten]), "15 percent of 400");
  assert.equal(understood([started("15 percent of 400"), searching, rewritten]), "");
});

test("a repair is a second attempt beside the first", () => {
  const turn = folded(REPAIRED);
  assert.deepEqual(outline(turn), [
    ["search-1", "done", 1, 0.1],
    ["no_tool_found-1", "done", 1, null],
    ["specify-1", "done", 1, 1.5],
    ["test-1", "done", 1, 2],
    ["stub-1", "done", 1, 0.5],
    ["implement-1", "done", 1, 1],
    ["verify-1", "failed", 1, 0.6],
    ["implement-2", "done", 2, 1.25],
    ["verify-2", "done", 2, 0.5],
    ["register-1", "done", 1, 0.05],
    ["execute-1", "done", 1, 0.3],
    ["respond-1", "done", 1, 2],
  ]);
  const tests = Object.fromEntries(
    turn.steps.filter((s) => s.tests?.length).map((s) => [s.key, s.tests]),
  );
  assert.deepEqual(tests, {
    "stub-1": [result("test_a", "failed"), result("test_b", "error")],
    "verify-1": [result("test_a"), result("test_b", "failed")],
    "verify-2": [result("test_a"), result("test_b")],
  });
  const twice = [
    { order: "reversed", same: true, detail: "" },
    { order: "shuffled", same: true, detail: "" },
  ];
  const repeats = Object.fromEntries(
    turn.steps.filter((s) => s.repeats?.length).map((s) => [s.key, s.repeats]),
  );
  assert.deepEqual(repeats, { "stub-1": twice, "verify-2": twice });
  assert.deepEqual(
    turn.steps
      .filter((s) => s.artifact)
      .map(({ key, artifact, stream, prompt, text }) => ({ key, artifact, stream, prompt, text })),
    [
      {
        key: "specify-1",
        artifact: "{}",
        stream: "",
        prompt: "specification",
        text: "reverse(text: str) -> str",
      },
      {
        key: "test-1",
        artifact: "def test_a(): ...",
        stream: "def test_a(): ...",
        prompt: "tests",
        text: "2 tests",
      },
      {
        key: "implement-1",
        artifact: "return text",
        stream: "return text",
        prompt: "implementation",
        text: "",
      },
      {
        key: "implement-2",
        artifact: "return text[::-1]",
        stream: "",
        prompt: "repair",
        text: "",
      },
    ],
  );
  assert.deepEqual([turn.state, turn.answer, turn.tool], ["done", "It is `ba`.", "reverse"]);
});

test("a change of standing is a step after the execution", () => {
  const change = {
    type: "tool_standing_changed",
    tool: "add",
    before: "provisional",
    after: "trusted",
    reason: "It has served 3 different calls.",
  };
  const turn = folded([started("x"), searching, found, executing, executed, change, token("45")]);
  assert.deepEqual(
    turn.steps.slice(-2).map(({ key, state, text }) => [key, state, text]),
    [
      [
        "tool_standing_changed-1",
        "done",
        "add is trusted now. It has served several different calls.",
      ],
      ["respond-1", "running", undefined],
    ],
  );
});

test("a stub run in which a test passes has failed, and the suite is written again", () => {
  const turn = folded([
    started("x"),
    step("test", "started"),
    tested("stub", "test_a", "passed"),
    tested("stub", "test_b", "failed"),
    step("test", "failed", { text: "Refused.", seconds: 1 }),
    step("test", "started", { attempt: 2 }),
    tested("stub", "test_a", "failed", 2),
  ]);
  assert.deepEqual(outline(turn), [
    ["test-1", "failed", 1, 1],
    ["stub-1", "failed", 1, 0.5],
    ["test-2", "running", 2, null],
    ["stub-2", "running", 2, null],
  ]);
});

test("a stub run that another order changes has failed", () => {
  const turn = folded([
    started("x"),
    step("test", "started"),
    tested("stub", "test_a", "failed"),
    repeated("stub", "reversed", "test_a passed"),
    step("test", "failed", { text: "Refused.", seconds: 1 }),
  ]);
  assert.deepEqual(outline(turn), [
    ["test-1", "failed", 1, 1],
    ["stub-1", "failed", 1, 0.25],
  ]);
});

test("repeats belong to the verification that runs", () => {
  const turn = folded([
    started("x"),
    step("verify", "started"),
    tested("implementation", "test_a", "passed"),
    repeated("implementation", "shuffled", "test_a failed"),
  ]);
  assert.deepEqual(
    turn.steps.map(({ key, state, repeats }) => ({ key, state, repeats })),
    [
      {
        key: "verify-1",
        state: "running",
        repeats: [{ order: "shuffled", same: false, detail: "test_a failed" }],
      },
    ],
  );
});

test("a stub run ends with its suite, or at the latest when the next step begins", () => {
  const stub = ["stub-1", "done", 1, 0.25];
  const during = [
    started("x"),
    step("test", "started"),
    tested("stub", "test_a", "failed"),
    step("test", "finished", { seconds: 1 }),
  ];
  assert.deepEqual(outline(folded(during)), [["test-1", "done", 1, 1], stub]);
  const later = [started("x"), tested("stub", "test_a", "failed"), step("implement", "started")];
  assert.deepEqual(outline(folded(later)), [stub, ["implement-1", "running", 1, null]]);
});

test("attempts are told apart even if the first has no end", () => {
  const turn = folded([
    started("x"),
    step("verify", "started"),
    tested("implementation", "test_a", "failed", 1),
    tested("implementation", "test_a", "passed", 2),
    step("test", "streaming", { text: "a" }),
    step("test", "streaming", { text: "b", attempt: 2 }),
  ]);
  assert.deepEqual(
    turn.steps.map(({ key, attempt, stream, tests }) => ({ key, attempt, stream, tests })),
    [
      { key: "verify-1", attempt: 1, stream: "", tests: [result("test_a", "failed")] },
      { key: "verify-2", attempt: 2, stream: "", tests: [result("test_a")] },
      { key: "test-1", attempt: 1, stream: "a", tests: [] },
      { key: "test-2", attempt: 2, stream: "b", tests: [] },
    ],
  );
});

test("a step that streams is running and shows what came so far", () => {
  const turn = folded([
    started("x"),
    step("implement", "started"),
    step("implement", "streaming", { text: "de" }),
    step("implement", "streaming", { text: "f" }),
  ]);
  const streaming = {
    key: "implement-1",
    kind: "implement",
    attempt: 1,
    state: "running",
    startedAt: second(2),
    seconds: null,
  };
  assert.deepEqual(turn.steps, [
    { ...streaming, stream: "def", artifact: "", text: "", prompt: "", tests: [], repeats: [] },
  ]);
});

test("a stop stops what was running and keeps what was done", () => {
  const turn = folded([
    started("x"),
    searching,
    notFound,
    step("test", "started"),
    tested("stub", "test_a", "failed"),
    { ...stopped("The server ended."), by: "server" },
  ]);
  assert.deepEqual(outline(turn), [
    ["search-1", "done", 1, 0.1],
    ["no_tool_found-1", "done", 1, null],
    ["test-1", "stopped", 1, 2],
    ["stub-1", "stopped", 1, 0.25],
    ["turn_stopped-1", "stopped", 1, null],
  ]);
  assert.deepEqual(
    [turn.state, turn.stopReason, turn.failure, turn.usage, turn.seconds],
    ["stopped", "The server ended or was interrupted.", null, USAGE, 2],
  );
});

test("a failure marks the step that gave up", () => {
  const turn = folded([started("x"), searching, failed("search", "no connection", "try again")]);
  const failure = {
    where: "search",
    kind: "internal",
    cause: "",
    values: undefined,
    remedy: "Try again. If it fails again, the details name the cause.",
    message: "",
    details: "no connection\ntry again",
  };
  assert.deepEqual(turn.steps, [
    {
      key: "search-1",
      kind: "search",
      attempt: 1,
      state: "failed",
      startedAt: second(2),
      seconds: 1,
    },
    {
      key: "turn_failed-1",
      kind: "turn_failed",
      attempt: 1,
      state: "failed",
      startedAt: second(3),
      seconds: null,
      failure,
    },
  ]);
  assert.deepEqual(
    [turn.state, turn.failure, turn.usage, turn.seconds],
    ["failed", failure, USAGE, 3],
  );
});

test("each outcome of a turn has its state; what older records leave out follows from the rest", () => {
  const asked = { type: "questions_asked", questions: [{ id: "unit" }], intro: "" };
  const ends = (...events) => {
    const { outcome, state, failure, nearest } = folded([started("x"), ...events]);
    return [outcome, state, failure?.remedy ?? null, nearest];
  };
  const end = (outcome, more) => ({ ...finished("text"), outcome, ...more });
  assert.deepEqual(ends(searching), [null, "running", null, []]);
  assert.deepEqual(ends(finished("text")), ["answered", "done", null, []]);
  assert.deepEqual(ends(end("answered")), ["answered", "done", null, []]);
  assert.deepEqual(ends(asked, end("asked")), ["asked", "done", null, []]);
  assert.deepEqual(ends(asked, finished("text")), ["asked", "done", null, []]);
  assert.deepEqual(ends(end("declined", { nearest: ["a"] })), [
    "declined",
    "declined",
    null,
    ["a"],
  ]);
  const vain = "Say it in other words, or in smaller parts.";
  assert.deepEqual(ends(end("failed", { remedy: "try less" })), ["failed", "failed", vain, []]);
  const again = "Try again. If it fails again, the details name the cause.";
  assert.deepEqual(ends(failed("search", "no", "wait")), ["failed", "failed", again, []]);
  assert.deepEqual(ends(stopped("you")), ["stopped", "stopped", null, []]);
});

test("a text of the server that has a code is told in the page's words, and what it leaves out as details", () => {
  const step = (more) =>
    folded([
      started("x"),
      {
        type: "synthesis_step",
        step: "test",
        state: "failed",
        attempt: 1,
        artifact: "",
        prompt: "",
        seconds: 1,
        ...more,
      },
    ]).steps[0];
  const refused = step({ text: "Refused: no assert.", code: "refused", values: {} });
  assert.deepEqual(
    [refused.text, refused.details],
    ["Refused; the details say why.", "Refused: no assert."],
  );
  const known = step({ text: "add is there.", code: "known", values: { tool: "add" } });
  assert.deepEqual(
    [known.text, known.details],
    ["add is in the library already, and does this.", ""],
  );
  assert.equal(step({ text: "Refused: no assert." }).text, "Refused: no assert.", "older records");
  const declined = {
    type: "synthesis_step",
    step: "specify",
    state: "finished",
    text: "No.",
    decision: "impossible",
  };
  assert.equal(announcementOf({ event: declined }), "Specification done. It can’t be done here.");
  const values = { tool: "add", share: 3.14159, floor: 5 };
  const search = { type: "no_tool_found", reason: "Too far.", code: "far", values };
  const [, { reason }] = folded([started("x"), searching, search]).steps;
  assert.equal(reason, "The nearest tool, add, is too far away: 3.1 %, below 5 %.");
});

test("the answer to a call by hand is in the page's words", () => {
  const answer = (execution, text) =>
    folded([
      { ...started("add(1)"), runs: "add" },
      { type: "executing", tool: "add", arguments: "{}" },
      { type: "execution_finished", tool: "add", execution, seconds: 1 },
      { ...finished(text), outcome: "answered" },
    ]).answer;
  const returned = { outcome: "returned", text: "5" };
  assert.equal(answer(returned, "The result is about 3.333."), "The result: ≈ 3.333");
  assert.equal(answer(returned, "The result is:\n\n```\n5\n```"), "The result:\n\n```\n5\n```");
  const long = { ...returned, value: { long: true } };
  assert.equal(answer(long, "The result is a table of 9 rows."), "The result:");
  const raised = { outcome: "raised", type_name: "ValueError", message: "no" };
  assert.equal(answer(raised, "The tool refused…"), "The tool refused this input: no");
  const killed = { outcome: "killed", reason: "It used 30 s." };
  assert.equal(answer(killed, "The sandbox…"), "The sandbox ended the tool: It used 30 s.");
});

test("a failure of the answer marks the answer, one from inside no step", () => {
  assert.deepEqual(outline(folded([started("x"), token("It"), failed("respond", "cut off")])), [
    ["respond-1", "failed", 1, 1],
    ["turn_failed-1", "failed", 1, null],
  ]);
  assert.deepEqual(outline(folded([started("x"), searching, failed("internal", "bug")])), [
    ["search-1", "stopped", 1, 1],
    ["turn_failed-1", "failed", 1, null],
  ]);
});

test("a tool that raised is a failed execution of a turn that goes on", () => {
  const execution = {
    outcome: "raised",
    type_name: "ValueError",
    message: "no",
    traceback: "",
    stdout: "",
    seconds: 0.1,
  };
  const turn = folded([
    started("x"),
    executing,
    { type: "execution_failed", tool: "calculate_percentage", execution, seconds: 0.4 },
  ]);
  const executingStep = {
    key: "execute-1",
    kind: "execute",
    attempt: 1,
    state: "failed",
    startedAt: second(2),
    seconds: 0.4,
  };
  assert.deepEqual(turn.steps, [
    { ...executingStep, tool: "calculate_percentage", arguments: executing.arguments, execution },
  ]);
  assert.equal(turn.state, "running");
});

test("a mismatch says what does not fit and what follows", () => {
  const turn = folded([
    started("x"),
    searching,
    found,
    mismatch("ask"),
    token("Of what?"),
    finished("Of what?"),
  ]);
  assert.deepEqual(outline(turn), [
    ["search-1", "done", 1, 0.2],
    ["tool_found-1", "done", 1, null],
    ["tool_mismatch-1", "done", 1, null],
    ["respond-1", "done", 1, 1],
  ]);
  const { problem, then, tool } = turn.steps[2];
  assert.deepEqual(
    { problem, then, tool },
    { problem: "the whole is missing", then: "ask", tool: "calculate_percentage" },
  );
  assert.deepEqual([turn.state, turn.tool], ["done", null]);
});

test("an event of a newer server changes nothing", () => {
  const turn = folded([started("x"), searching]);
  assert.equal(foldEvent(turn, { type: "not_yet_invented" }, second(3)), turn);
});

test("what a limit left behind follows from the steps", () => {
  const limit = { ...failed("test", "the budget is used up", "ask for less"), kind: "budget" };
  const reached = (...events) => reachedOf(folded([started("x"), ...events, limit]));
  assert.equal(reached(), "");
  assert.equal(reached(step("specify", "finished")), "The specification is written.");
  const passed = ["test_a", "test_b"].map((name) =>
    tested("implementation", name, name === "test_a" ? "passed" : "failed"),
  );
  assert.match(reached(step("specify", "finished"), ...passed), /passes 1 of 2 tests/);
});

test("the budget is that of the newest model call and makes no step", () => {
  const limits = { calls: 40, tokens: 400000, seconds: 600, cost: null };
  const spent = (calls, seconds) => ({
    type: "budget_spent",
    usage: { ...USAGE, calls },
    limits,
    seconds,
  });
  const turn = folded([started("x"), searching, spent(1, 0.5), spent(2, 3)]);
  assert.deepEqual(turn.budget, { usage: { ...USAGE, calls: 2 }, limits, seconds: 3 });
  assert.deepEqual(
    turn.steps.map((s) => s.kind),
    ["search"],
  );
});

test("what the model thinks is kept apart from the answer, call by call", () => {
  const thought = (call, text) => ({ type: "thought_aloud", call, text, prompt: "answer" });
  const turn = folded([
    started("x"),
    thought(1, "Let me "),
    thought(2, "Or"),
    thought(1, "see."),
    token("45."),
  ]);
  assert.deepEqual(turn.thoughts, [
    { call: 1, text: "Let me see." },
    { call: 2, text: "Or" },
  ]);
  assert.equal(turn.answer, "45.");
});

test("lessons that are shown are a step of their own and close none", () => {
  const lessons = [{ id: "l1", trigger: "tests compare floats", advice: "Use approx." }];
  const turn = folded([
    started("x"),
    searching,
    { type: "lessons_shown", agent: "execution", lessons },
  ]);
  assert.deepEqual(
    turn.steps.map((s) => [s.kind, s.state]),
    [
      ["search", "running"],
      ["lessons_shown", "done"],
    ],
  );
  assert.deepEqual([turn.steps[1].agent, turn.steps[1].lessons], ["execution", lessons]);
});

test("a turn that goes on keeps its steps, and a reply that was interrupted is written over", () => {
  const writing = { type: "synthesis_step", step: "test", attempt: 1, prompt: "tests" };
  const piece = (text, offset) => ({ ...writing, state: "streaming", text, offset });
  const events = [
    started("x"),
    { ...writing, state: "started", text: "" },
    piece("def 😀", 0),
    piece("test_a", 6),
    { type: "turn_resumed", again: false },
    piece("def 😀", 0),
    piece("test_b", 6),
    { ...token("It is"), offset: 0 },
    { ...token(" 3."), offset: 5 },
    { ...token(" 4."), offset: 5 },
  ];
  const turn = folded(events);
  assert.deepEqual(
    turn.steps.map(({ kind, stream, again }) => [kind, stream, again]),
    [
      ["test", "def 😀test_b", undefined],
      ["turn_resumed", undefined, false],
      ["respond", undefined, undefined],
    ],
  );
  assert.equal(turn.answer, "It is 4.");
});

test("a turn that begins again shows only what it did since", () => {
  const turn = folded([
    started("x"),
    searching,
    found,
    token("half an ans"),
    { type: "turn_resumed", again: true },
    searching,
  ]);
  assert.deepEqual(
    turn.steps.map(({ kind, state }) => [kind, state]),
    [
      ["turn_resumed", "done"],
      ["search", "running"],
    ],
  );
  assert.equal(turn.answer, "");
  assert.equal(turn.request, "x");
});

test("an answer within a structured reply is shown as it is written, and then stays", () => {
  const writing = { type: "synthesis_step", step: "specify", attempt: 1, prompt: "specification" };
  const steps = [
    { ...writing, state: "started" },
    { ...writing, state: "streaming", text: "A ", offset: 0 },
    { ...writing, state: "streaming", text: "mean", offset: 2 },
    { ...writing, state: "finished", text: "No tool is needed.", artifact: "" },
  ];
  const shown = (...more) => answerOf(folded([started, ...more]));
  assert.equal(shown(...steps.slice(0, 3)), "A mean");
  assert.equal(shown(...steps), "A mean");
  assert.equal(shown(...steps, token("A mean.")), "A mean.");
});

test("a silence of the model is told until it says something, and begins anew when it is asked again", () => {
  const silent = { type: "model_silent", seconds: 10, timeout: 60, attempts: 4, prompt: "decide" };
  const again = { type: "model_asked_again", attempt: 2, prompt: "decide" };
  const now = folded([started("x"), silent]);
  assert.deepEqual(now.silent, { since: second(2) - 10_000, timeout: 60, attempts: 4 });
  const asked = folded([started("x"), silent, again]);
  assert.deepEqual([asked.again, asked.silent.since], [2, second(3)]);
  assert.equal(folded([started("x"), silent, again, token("A")]).silent, null);
});

test("what a turn that broke off has written is its answer, which is cut off", () => {
  const writing = { type: "synthesis_step", step: "specify", attempt: 1, prompt: "specification" };
  const begun = [{ ...writing, state: "started", text: "" }];
  const spoken = [...begun, { ...writing, state: "streaming", text: "A mean", offset: 0 }];
  const turn = folded([started("x"), ...spoken, failed("specify", "it broke off")]);
  assert.deepEqual([answerOf(turn), isCutOff(turn)], ["A mean", true]);
  assert.equal(isCutOff(folded([started("x"), ...spoken])), false);
});

test("a model that is asked again is told until it says something", () => {
  const again = { type: "model_asked_again", attempt: 2, prompt: "decide" };
  assert.equal(folded([started, again]).again, 2);
  assert.equal(folded([started, again, token("A")]).again, 0);
});

test("a result that was not delivered shows on its turn, with the remedy", () => {
  const failure = {
    type: "delivery_failed",
    schedule: "sums",
    message: "refused",
    remedy: "allow it",
  };
  const { undelivered } = folded([started("Run add(a=2)"), failure]);
  assert.deepEqual([undelivered.message, undelivered.remedy], ["refused", "allow it"]);
});
