// A turn: one request and all it causes, folded event by event; the events are those of src/selfeng/core/events.py.

import { projectFolds } from "./build.js";
import { failureOf, inWords, vainFailure } from "./cause.js";
import { enter, leave } from "./course.js";
import { endDelegation, openDelegation, patchDelegation } from "./delegation.js";
import { foldPart, openPlan, patchPart } from "./plan.js";
import { standingChange } from "./format.js";
import { askedBy } from "./questions.js";
import { always, close, latest, open, patch } from "./steps.js";
import { coded, t, words } from "./texts.js";

export const newTurn = (id, startedAt) => ({
  id,
  startedAt,
  after: null, // the turn that it follows, "" for none, null for the one before it
  request: "",
  answers: [],
  keeps: "",
  disputes: "", // the turn whose answer the person marked as wrong
  runs: "",
  files: [],
  made: [],
  state: "running",
  course: [],
  steps: [],
  thoughts: [],
  again: 0, // the attempt in which the model is asked, if the ones before failed
  silent: null, // since when the model has sent nothing: {since, timeout, attempts}
  answer: "",
  tool: null,
  outcome: null, // answered, asked, declined, failed, stopped; null while it runs
  nearest: [],
  usage: null,
  budget: null,
  seconds: null,
  failure: null,
  stopReason: "",
  questions: null,
  checked: null, // what other implementations of the tool said of its result
  recomputed: null, // how many earlier answers of a tool that it corrected change
  corrected: null, // by which turn, with the tool and its version
});

// The answer so far; while it is a part of a structured reply, the step has it.
export function answerOf(turn) {
  const { state, answer, steps } = turn;
  const { stream = "", state: written } = latest(steps, "specify") ?? {};
  return answer || (state === "running" || (isCutOff(turn) && written !== "done") ? stream : "");
}

// Whether the turn ended before its answer did.
export const isCutOff = ({ steps }) => /^turn_(failed|stopped)$/.test(steps.at(-1)?.kind);

// The model's thoughts, one entry for each of its calls, several of which may run at once.
function think(thoughts, call, text) {
  if (!thoughts.some((thought) => thought.call === call)) return [...thoughts, { call, text }];
  return thoughts.map((thought) =>
    thought.call === call ? { call, text: thought.text + text } : thought,
  );
}

const is = (kind) => (step) => step.kind === kind;
const isRunning = (kind) => (step) => step.kind === kind && step.state === "running";
const withSteps = (turn, steps) => ({ ...turn, steps });

// An unknown event, from a newer server, changes nothing.
export function foldEvent(turn, event, at) {
  const fold = folds[event.type];
  if (!fold) return turn;
  if (!WAITS.has(event.type) && (turn.again || turn.silent))
    turn = { ...turn, again: 0, silent: null };
  const inner = (part) => fold(part, event, at);
  if (event.within) return withInner(turn, event, patchDelegation(turn.steps, event.within, inner));
  if (event.plan_step) return withInner(turn, event, patchPart(turn.steps, event.plan_step, inner));
  return fold(turn, event, at);
}

const WAITS = new Set(["model_asked_again", "model_silent"]);

// Events in a step of the plan or in the work of an agent belong to it; files that were made there belong to
// the turn, too.
const withInner = (turn, event, steps) => ({
  ...turn,
  steps,
  made: [...turn.made, ...(event.type === "files_made" ? event.files : [])],
});

// The turn with one more step.
const add = (turn, kind, startedAt, more = {}) =>
  withSteps(turn, open(turn.steps, { kind, startedAt, ...more }));
const DONE = { state: "done" };

// The turn with a change of its newest step of this kind, if that runs.
const change = (turn, kind, how) => withSteps(turn, patch(turn.steps, isRunning(kind), how));

const folds = {
  turn_started: (turn, event, at) => ({
    ...turn,
    after: event.after ?? null,
    request: event.request,
    answers: event.answers ?? [],
    keeps: event.keeps ?? "",
    disputes: event.disputes ?? "",
    runs: event.runs ?? "",
    files: event.files ?? [],
    startedAt: at,
  }),
  // The process that ran it ended. Of a turn that begins again, what was done so far is gone.
  turn_resumed(turn, { again }, at) {
    const { steps, course, thoughts, answer, made } = again ? newTurn(turn.id, at) : turn;
    const resumed = { kind: "turn_resumed", state: "done", startedAt: at, again };
    return { ...turn, steps: open(steps, resumed), course, thoughts, answer, made };
  },
  budget_spent: (turn, { usage, limits, seconds }) => ({
    ...turn,
    budget: { usage, limits, seconds },
  }),
  thought_aloud: (turn, { call, text }) => ({
    ...turn,
    thoughts: think(turn.thoughts, call, text),
  }),
  model_asked_again: (turn, { attempt }, at) => ({
    ...turn,
    again: attempt,
    silent: turn.silent && { ...turn.silent, since: at },
  }),
  model_silent: (turn, { seconds, timeout, attempts }, at) => ({
    ...turn,
    silent: { since: at - 1000 * seconds, timeout, attempts },
  }),
  stage_entered: (turn, event, at) => ({ ...turn, course: enter(turn.course, event, at) }),
  lessons_shown: (turn, { agent, lessons }, at) =>
    add(turn, "lessons_shown", at, { ...DONE, agent, lessons }),
  turn_queued(turn, { place, reason, seconds }, at) {
    if (place === 0) return change(turn, "queued", { ...DONE, seconds, text: "" });
    const text = t(reason ? "now-queued-reason" : "now-queued", { place });
    return turn.steps.some(isRunning("queued"))
      ? change(turn, "queued", { text })
      : add(turn, "queued", at, { text });
  },
  waiting: (turn, { part, state, seconds }, at) =>
    state === "finished"
      ? change(turn, "waiting", { ...DONE, seconds })
      : add(turn, "waiting", at, { part, text: t(`waits-for-${part}`) }),
  searching: (turn, event, at) => add(turn, "search", at),
  tool_found: (turn, event, at) => searched({ ...turn, tool: event.tool }, event, at),
  no_tool_found: searched,
  synthesis_step: synthesisStep,
  test_finished: (turn, event, at) =>
    suiteRun(turn, event, at, (step) => ({ tests: [...step.tests, event.result] })),
  suite_repeated: (turn, event, at) =>
    suiteRun(turn, event, at, (step) => ({ repeats: [...step.repeats, repeat(event)] })),
  plan_made: (turn, event, at) => withSteps(turn, openPlan(turn.steps, event.steps, at)),
  plan_step: (turn, event, at) => withSteps(turn, foldPart(turn.steps, event, at)),
  delegation(turn, event, at) {
    return withSteps(
      turn,
      event.state === "started"
        ? openDelegation(turn.steps, event, at)
        : endDelegation(turn.steps, event, at),
    );
  },
  code_run: (turn, { run, state, code, execution, seconds }, at) =>
    state === "started"
      ? add(turn, "code_run", at, { attempt: run, code, execution: null })
      : change(turn, "code_run", { state: endOf(state), execution, seconds }),
  questions_asked(turn, event) {
    const { then, tool, given } = latest(turn.steps, "tool_mismatch") ?? {};
    const lacks = then === "ask" && given ? { tool, given } : null; // a tool that needs values
    return { ...turn, questions: { ...askedBy(event), lacks } };
  },
  executing: (turn, { tool, arguments: given, server, hosts }, at) =>
    add(turn, "execute", at, {
      tool,
      arguments: given,
      ...(server && { server }),
      ...(hosts && { hosts }),
    }),
  execution_progress: (turn, { text, done, total, place }) =>
    change(turn, "execute", {
      progress: place
        ? t("now-queued", { place })
        : text || (total ? `${done} / ${total}` : `${done || ""}`),
    }),
  consent_decided: (turn, { tool, decision }, at) =>
    add(turn, "consent", at, { ...DONE, text: t(`consent-${decision}`, { tool }) }),
  execution_finished: (turn, event, at) => executed(turn, event, at, "done"),
  execution_failed: (turn, event, at) => executed(turn, event, at, "failed"),
  answers_recomputed: (turn, { tool, computed, changed }) => ({
    ...turn,
    recomputed: { tool, computed, changed },
  }),
  delivery_failed: (turn, { message, remedy, kind, cause, values }) => ({
    ...turn,
    undelivered: inWords({ message, remedy, kind, cause, values }),
  }),
  tool_proposed: (turn, { tool }) => ({ ...turn, proposed: tool }),
  witnessed: (turn, { agree, of, other }) => ({ ...turn, checked: { agree, of, other } }),
  files_made: (turn, { files }) =>
    withSteps(
      { ...turn, made: [...turn.made, ...files] },
      patch(turn.steps, is("execute"), { made: files }),
    ),
  tool_standing_changed: (turn, { tool, after }, at) =>
    add(turn, "tool_standing_changed", at, { ...DONE, text: standingChange(tool, after) }),
  tool_mismatch(turn, { tool, problem: said, then, given = "", ...event }, at) {
    const problem = coded(event, said);
    const stopped = withSteps(turn, close(turn.steps, always, "stopped", at));
    const state = then === "ask" ? "done" : "failed"; // to ask is no fault
    return add(stopped, "tool_mismatch", at, { state, tool, problem, then, given });
  },
  answer_token(turn, event, at) {
    const answering = turn.steps.some(isRunning("respond"));
    const steps = answering ? turn.steps : open(turn.steps, { kind: "respond", startedAt: at });
    return { ...turn, steps, answer: written(turn.answer, event) };
  },
  // Earlier versions stored no outcome.
  turn_finished(turn, event, at) {
    const { tool, nearest = [] } = event;
    const outcome = turn.questions ? "asked" : (event.outcome ?? "answered");
    return {
      ...end(turn, event, STATE_OF[outcome], at),
      steps: close(turn.steps, always, "done", at),
      course: leave(turn.course, "done", at),
      answer: answerText(turn, event),
      tool,
      outcome,
      nearest,
      failure: outcome === "failed" ? vainFailure(turn.steps, turn.made) : null,
    };
  },
  turn_failed(turn, event, at) {
    const { where } = event;
    const failure = failureOf(event);
    const guilty = (step) => step.kind === where;
    const closed = close(close(turn.steps, guilty, "failed", at), always, "stopped", at);
    const said = { state: "failed", failure };
    return {
      ...end(add(withSteps(turn, closed), "turn_failed", at, said), event, "failed", at),
      outcome: "failed",
      failure,
    };
  },
  ...projectFolds,
  turn_stopped(turn, event, at) {
    const reason = event.by === "server" ? t("stopped-by-server") : "";
    const closed = withSteps(turn, close(turn.steps, always, "stopped", at));
    const steps = add(closed, "turn_stopped", at, { state: "stopped", reason });
    return {
      ...end(steps, event, "stopped", at),
      outcome: "stopped",
      stopReason: reason,
    };
  },
};

const STATE_OF = { answered: "done", asked: "done", declined: "declined", failed: "failed" };

const end = (turn, { usage, seconds }, state, at) => ({
  ...turn,
  state,
  course: leave(turn.course, state, at),
  usage,
  seconds,
});

function searched(turn, event, at) {
  const { type, tool, confidence, standalone, considered, confidences, seconds } = event;
  const reason = coded(event, event.reason);
  const understood = standalone && standalone !== turn.request ? standalone : "";
  const found = { ...DONE, tool, confidence, reason, understood, considered, confidences };
  return add(change(turn, "search", { ...DONE, seconds }), type, at, found);
}

// A call by hand has no model that words its result.
function answerText({ runs, steps, questions }, { answer, ...event }) {
  if (questions)
    return [questions.intro, ...questions.questions.map(({ label }) => label)].join(" ").trim();
  const execution = runs && latest(steps, "execute")?.execution;
  if (!execution?.outcome) return coded(event, answer);
  const [, value = "", rest] = answer.match(/^The result is(?: (.*)\.)?:?([^]*)$/) ?? [];
  const shown = execution.value?.long ? "" : value.replace(/^about /, "≈ ");
  if (rest !== undefined) return t("by-hand-returned", { value: shown }).trim() + rest;
  const { outcome, message, reason = answer } = execution;
  return t(`by-hand-${outcome}`, { problem: message ?? reason });
}

function executed(turn, { tool, execution, seconds }, at, state) {
  const runs = turn.steps.some(isRunning("execute")) ? turn : add(turn, "execute", at, { tool });
  return change(runs, "execute", { state, execution, seconds });
}

const endOf = (state, decision = "") =>
  state === "failed" ? "failed" : decision === "impossible" ? "declined" : "done";

// Codes of texts that leave out what the server says.
const DETAILED = new Set(["refused", "failed", "tool_stays", "suite_stays"]);
const WRITTEN = { stream: "", artifact: "", text: "", prompt: "", tests: [], repeats: [] };

// The turn with its step of this kind and attempt as it runs, begun if there is none; and how to find that.
function stepOf(turn, kind, attempt, startedAt) {
  const same = (step) => isRunning(kind)(step) && step.attempt === attempt;
  const has = turn.steps.some(same);
  return { same, begun: has ? turn : add(turn, kind, startedAt, { attempt, ...WRITTEN }) };
}

// The outcome of a step, in one sentence.
export const summaryOf = ({ decision, text, ...event }) =>
  words(`decided-${decision}`, coded(event, text));

// A step begins after the run of its tests without an implementation.
function synthesisStep(turn, event, at) {
  const { step, attempt, state, artifact, prompt, seconds, decision = "" } = event;
  const text = summaryOf(event);
  const details = DETAILED.has(event.code) ? event.text : "";
  const closed = withSteps(turn, close(turn.steps, is("stub"), "done", at));
  const { same, begun } = stepOf(closed, step, attempt, at);
  const how = {
    started: { text, prompt },
    streaming: ({ stream }) => ({ stream: written(stream, event) }),
  }[state] ?? { state: endOf(state, decision), text, details, artifact, prompt, seconds };
  return withSteps(begun, patch(begun.steps, same, how));
}

// A text with its next piece, which replaces what stood in its place: a reply that was interrupted is written again.
const written = (text, { offset, text: piece }) => text.slice(0, offset ?? text.length) + piece;

const repeat = ({ order, same, detail }) => ({ order, same, detail });

// The results of a run of the suite, in the step that it belongs to.
function suiteRun(turn, { against, attempt }, at, how) {
  const kind = against === "stub" ? "stub" : "verify";
  const { same, begun } = stepOf(turn, kind, attempt, at);
  return withSteps(begun, patch(begun.steps, same, how));
}
