// A turn: one request and all it causes, folded event by event; the events are those of src/selfeng/core/events.py.

import { projectFolds } from "./build.js";
import { remedyOf } from "./cause.js";
import { enter, leave } from "./course.js";
import { endDelegation, openDelegation, patchDelegation } from "./delegation.js";
import { partWords, sentence } from "./format.js";
import { foldPart, openPlan, patchPart } from "./plan.js";
import { close, latest, open, patch } from "./steps.js";
import { t } from "./texts.js";

export const newTurn = (id, startedAt) => ({
  id,
  startedAt,
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

// What the model thinks, one entry for each of its calls, several of which may run at once.
// The answer so far; while it is a part of a structured reply, the step has it.
export const answerOf = ({ state, answer, steps }) =>
  answer || (state === "running" && steps.findLast(is("specify"))?.stream) || "";

function think(thoughts, call, text) {
  if (!thoughts.some((thought) => thought.call === call)) return [...thoughts, { call, text }];
  return thoughts.map((thought) =>
    thought.call === call ? { call, text: thought.text + text } : thought,
  );
}

const always = () => true;
const is = (kind) => (step) => step.kind === kind;
const isRunning = (kind) => (step) => step.kind === kind && step.state === "running";
const withSteps = (turn, steps) => ({ ...turn, steps });

// An unknown event, from a newer server, changes nothing.
export function foldEvent(turn, event, at) {
  const fold = folds[event.type];
  if (!fold) return turn;
  if (turn.again) turn = { ...turn, again: 0 };
  if (event.within) return foldDelegated(turn, event, fold, at);
  return event.plan_step ? foldWithin(turn, event, fold, at) : fold(turn, event, at);
}

// What a message to an agent caused belongs to it; files that it made belong to the turn, too.
function foldDelegated(turn, event, fold, at) {
  const made = event.type === "files_made" ? event.files : [];
  return {
    ...turn,
    steps: patchDelegation(turn.steps, event.within, (step) => fold(step, event, at)),
    made: [...turn.made, ...made],
  };
}

// What a step of the plan caused belongs to it; files that it made belong to the turn, too.
function foldWithin(turn, event, fold, at) {
  const made = event.type === "files_made" ? event.files : [];
  return {
    ...turn,
    steps: patchPart(turn.steps, event.plan_step, (part) => fold(part, event, at)),
    made: [...turn.made, ...made],
  };
}

const folds = {
  turn_started: (turn, event, at) => ({
    ...turn,
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
  model_asked_again: (turn, { attempt }) => ({ ...turn, again: attempt }),
  stage_entered: (turn, event, at) => ({ ...turn, course: enter(turn.course, event, at) }),
  lessons_shown(turn, { agent, lessons }, at) {
    return withSteps(
      turn,
      open(turn.steps, { kind: "lessons_shown", state: "done", startedAt: at, agent, lessons }),
    );
  },
  turn_queued(turn, { place, reason, seconds }, at) {
    if (place === 0)
      return withSteps(
        turn,
        patch(turn.steps, isRunning("queued"), { state: "done", seconds, text: "" }),
      );
    const text = reason ? t("now-queued-reason", { place, reason }) : t("now-queued", { place });
    return withSteps(
      turn,
      turn.steps.some(isRunning("queued"))
        ? patch(turn.steps, isRunning("queued"), { text })
        : open(turn.steps, { kind: "queued", startedAt: at, text }),
    );
  },
  waiting(turn, { part, state, seconds }, at) {
    if (state === "finished")
      return withSteps(turn, patch(turn.steps, isRunning("waiting"), { state: "done", seconds }));
    return withSteps(
      turn,
      open(turn.steps, { kind: "waiting", startedAt: at, text: `${partWords(part)}.` }),
    );
  },
  searching: (turn, event, at) =>
    withSteps(turn, open(turn.steps, { kind: "search", startedAt: at })),
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
  code_run(turn, { run, state, code, execution, seconds }, at) {
    if (state === "started")
      return withSteps(
        turn,
        open(turn.steps, { kind: "code_run", startedAt: at, attempt: run, code, execution: null }),
      );
    return withSteps(
      turn,
      patch(turn.steps, isRunning("code_run"), {
        state: state === "failed" ? "failed" : "done",
        execution,
        seconds,
      }),
    );
  },
  questions_asked(turn, { questions, intro }) {
    const { then, tool, given } = latest(turn.steps, "tool_mismatch") ?? {};
    const lacks = then === "ask" && given ? { tool, given } : null; // a tool that needs values
    return { ...turn, questions: { questions, intro, lacks } };
  },
  executing(turn, event, at) {
    return withSteps(
      turn,
      open(turn.steps, {
        kind: "execute",
        startedAt: at,
        tool: event.tool,
        arguments: event.arguments,
        ...(event.server && { server: event.server }),
      }),
    );
  },
  execution_progress(turn, { text, done, total }) {
    const progress = text || (total ? `${done} / ${total}` : `${done}`);
    return withSteps(turn, patch(turn.steps, isRunning("execute"), { progress }));
  },
  consent_decided(turn, { tool, decision }, at) {
    const text = t(`consent-${decision}`, { tool });
    return withSteps(
      turn,
      open(turn.steps, { kind: "consent", state: "done", startedAt: at, text }),
    );
  },
  execution_finished: (turn, event, at) => executed(turn, event, at, "done"),
  execution_failed: (turn, event, at) => executed(turn, event, at, "failed"),
  answers_recomputed: (turn, { tool, computed, changed }) => ({
    ...turn,
    recomputed: { tool, computed, changed },
  }),
  tool_proposed: (turn, { tool }) => ({ ...turn, proposed: tool }),
  witnessed: (turn, { agree, of, other }) => ({ ...turn, checked: { agree, of, other } }),
  files_made: (turn, { files }) =>
    withSteps(
      { ...turn, made: [...turn.made, ...files] },
      patch(turn.steps, is("execute"), { made: files }),
    ),
  tool_standing_changed(turn, { tool, after, reason }, at) {
    return withSteps(
      turn,
      open(turn.steps, {
        kind: "tool_standing_changed",
        state: "done",
        startedAt: at,
        text: `${tool} is ${after} now. ${reason}`,
      }),
    );
  },
  tool_mismatch(turn, event, at) {
    const { tool, problem, then, given = "" } = event;
    const steps = close(turn.steps, always, "stopped", at);
    return withSteps(
      turn,
      open(steps, {
        kind: "tool_mismatch",
        state: then === "ask" ? "done" : "failed", // to ask is no fault
        startedAt: at,
        tool,
        problem,
        then,
        given,
      }),
    );
  },
  answer_token(turn, event, at) {
    const answering = turn.steps.some(isRunning("respond"));
    const steps = answering ? turn.steps : open(turn.steps, { kind: "respond", startedAt: at });
    return { ...turn, steps, answer: written(turn.answer, event) };
  },
  // Earlier versions told no outcome.
  turn_finished(turn, event, at) {
    const { answer, tool, nearest = [], remedy = "" } = event;
    const outcome = turn.questions ? "asked" : (event.outcome ?? "answered");
    return {
      ...end(turn, event, STATE_OF[outcome], at),
      steps: close(turn.steps, always, "done", at),
      course: leave(turn.course, "done", at),
      answer,
      tool,
      outcome,
      nearest,
      failure:
        outcome === "failed"
          ? {
              where: "",
              message: "",
              remedy: sentence(remedy),
              kind: "task",
              cause: "",
              reached: "",
            }
          : null,
    };
  },
  turn_failed(turn, event, at) {
    const { where, message, kind = "internal", cause = "", reached = "" } = event;
    const remedy = remedyOf(event);
    const guilty = (step) => step.kind === where;
    const closed = close(close(turn.steps, guilty, "failed", at), always, "stopped", at);
    const steps = open(closed, {
      kind: "turn_failed",
      state: "failed",
      startedAt: at,
      where,
      message,
      remedy,
      reached,
    });
    return {
      ...end(turn, event, "failed", at),
      steps,
      outcome: "failed",
      failure: { where, message, remedy, kind, cause, reached },
    };
  },
  ...projectFolds,
  turn_stopped(turn, event, at) {
    const closed = close(turn.steps, always, "stopped", at);
    const steps = open(closed, {
      kind: "turn_stopped",
      state: "stopped",
      startedAt: at,
      reason: event.reason,
    });
    return {
      ...end(turn, event, "stopped", at),
      steps,
      outcome: "stopped",
      stopReason: event.reason,
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
  const { type, tool, confidence, reason, standalone, considered, confidences, seconds } = event;
  const steps = patch(turn.steps, isRunning("search"), { state: "done", seconds });
  return withSteps(
    turn,
    open(steps, {
      kind: type,
      state: "done",
      startedAt: at,
      tool,
      confidence,
      reason,
      understood: standalone && standalone !== turn.request ? standalone : "",
      considered,
      confidences,
    }),
  );
}

function executed(turn, { tool, execution, seconds }, at, state) {
  const steps = turn.steps.some(isRunning("execute"))
    ? turn.steps
    : open(turn.steps, { kind: "execute", startedAt: at, tool });
  return withSteps(turn, patch(steps, isRunning("execute"), { state, execution, seconds }));
}

function synthesisStep(turn, event, at) {
  const { step: kind, attempt, state, text, artifact, prompt, seconds } = event;
  const same = (step) => isRunning(kind)(step) && step.attempt === attempt;
  const fresh = {
    kind,
    attempt,
    startedAt: at,
    stream: "",
    artifact: "",
    text: "",
    prompt,
    tests: [],
    repeats: [],
  };
  const steps = turn.steps.some(same)
    ? turn.steps
    : open(close(turn.steps, is("stub"), "done", at), fresh);
  switch (state) {
    case "started":
      return withSteps(turn, patch(steps, same, { text, prompt }));
    case "streaming":
      return withSteps(
        turn,
        patch(steps, same, (step) => ({ stream: written(step.stream, event) })),
      );
    default: {
      const outcome = {
        state: state === "failed" ? "failed" : "done",
        text,
        artifact,
        prompt,
        seconds,
      };
      return withSteps(turn, patch(close(steps, is("stub"), "done", at), same, outcome));
    }
  }
}

// A text with its next piece, which replaces what stood in its place: a reply that was interrupted is written again.
const written = (text, { offset, text: piece }) => text.slice(0, offset ?? text.length) + piece;

const repeat = ({ order, same, detail }) => ({ order, same, detail });

// The results of a run of the suite, in the step that it belongs to.
function suiteRun(turn, { against, attempt }, at, change) {
  const kind = against === "stub" ? "stub" : "verify";
  const same = (step) => isRunning(kind)(step) && step.attempt === attempt;
  const fresh = {
    kind,
    attempt,
    startedAt: at,
    stream: "",
    artifact: "",
    text: "",
    prompt: "",
    tests: [],
    repeats: [],
  };
  const steps = turn.steps.some(same) ? turn.steps : open(turn.steps, fresh);
  return withSteps(turn, patch(steps, same, change));
}
