// The outcome of a step, in one line.

import { ADDED } from "./births.js";
import { ACTIONS, figuresText } from "./build.js";
import { causeOf } from "./cause.js";
import { noticedWords, parseConsensus, parseMutation } from "./consensus.js";
import { agentWords, firstLine, list, percent, stepWords } from "./format.js";
import { parseSpecification, signatureText } from "./specification.js";
import { count, stubWords, tallyWords } from "./suite.js";
import { t, words } from "./texts.js";

const LONGEST = 200;
// Less likely tools are of no use to people.
export const LIKELY = 0.05;

export function titleOf(step) {
  if (step.kind === "tool_mismatch" && step.then === "ask") return t("value-missing");
  if (step.kind !== "delegation") return stepWords(step.kind);
  const agent = agentWords(step.recipient);
  return words(`handed-to-${step.recipient}`, t("handed-to", { agent }));
}

// "" if there is nothing to say, or not yet. `steps` are those that the step stands among.
export function outcomeOf(step, steps = []) {
  return oneLine((OUTCOMES[step.kind] ?? said)(step, steps) ?? "");
}

// The tools that came near, {name, confidence}; records of older versions have no confidence.
export const candidatesOf = ({ considered = [], confidences = [] }) =>
  considered.map((name, rank) => ({ name, confidence: confidences[rank] ?? null }));

export function oneLine(text) {
  const line = firstLine(text.replace(/^\s*(`{3,}|~{3,})[^\n]*$/gm, "")).replace(
    /`([^`]+)`/g,
    "$1",
  );
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

const said = ({ text }) => text;

const OUTCOMES = {
  tool_found: ({ tool, confidence }) =>
    confidence == null ? tool : t("outcome-found", { tool, share: percent(confidence) }),
  no_tool_found(step) {
    const [{ name, confidence } = {}] = candidatesOf(step);
    if (confidence == null || confidence < LIKELY) return step.reason;
    return t("outcome-closest", { tool: name, reason: step.reason });
  },
  lessons_shown: ({ lessons, agent }) =>
    t("outcome-lessons", { count: lessons.length, stage: stepWords(agent) }),
  specify({ artifact, text }) {
    const spec = artifact && parseSpecification(artifact);
    return spec
      ? signatureText(spec).replace(/\s+/g, " ").replace(/,? \)/, ")").replace("( ", "(")
      : text;
  },
  test(step, steps) {
    if (step.state !== "done") return step.text;
    const stub = steps.slice(steps.indexOf(step) + 1).find(({ kind }) => kind === "stub");
    const defined = step.artifact.match(/^\s*(async )?def test_/gm) ?? [];
    const written = stub?.tests.length || defined.length;
    return written > 0 ? t("outcome-tests", { count: written }) : step.text;
  },
  stub({ tests }) {
    const { total, passed } = count(tests);
    return passed > 0 ? stubWords(tests) : t("outcome-stub", { total });
  },
  verify: ({ tests, text, state }) =>
    tests.length > 0 && !(state === "failed" && tests.every((test) => test.outcome === "passed"))
      ? tallyWords(tests)
      : text,
  compare({ artifact, text }) {
    const { candidates } = parseConsensus(artifact) ?? {};
    if (!candidates) return text;
    const passed = candidates.filter(({ state }) => state === "passed").length;
    return t("outcome-compared", { passed, total: candidates.length });
  },
  strengthen: ({ artifact, text }) => noticedWords(parseMutation(artifact)) || text,
  register({ text }) {
    const [, name, version = "1"] = text.match(ADDED) ?? [];
    return name ? t("outcome-registered", { name, version }) : text;
  },
  plan: ({ parts }) =>
    t("outcome-plan", {
      done: parts.filter(({ state }) => state === "done").length,
      total: parts.length,
    }),
  delegation: ({ reply, message }) => reply || message,
  code_run: ({ execution }) => (execution ? ran(execution) : ""),
  execute({ tool, execution, made = [] }) {
    if (!execution) return tool;
    if (execution.outcome !== "returned") return ran(execution);
    const value = made.length > 0 ? list(made.map(({ name }) => name)) : firstLine(execution.text);
    return t("outcome-returned", { tool, value });
  },
  tool_mismatch: ({ tool, problem }) => t("outcome-mismatch", { tool, problem }),
  project_check: ({ figures }) => (figures ? figuresText(figures) : ""),
  restored: act,
  ...Object.fromEntries(ACTIONS.map((action) => [action, act])),
  turn_failed: ({ failure }, steps) => failure.message || causeOf({ failure, steps }),
  turn_stopped: ({ reason }) => reason,
  turn_resumed: ({ again }) => t(again ? "resumed-again" : "resumed-there"),
};

function ran(execution) {
  if (execution.outcome === "returned") return execution.stdout.trim() || execution.text;
  return execution.outcome === "raised"
    ? `${execution.type_name}: ${execution.message}`
    : execution.reason;
}

// A build's change of one of its files, or its finding about it.
function act({ arguments: args = {}, change, run, tested }) {
  if (run)
    return t("outcome-of-file", {
      path: run.path,
      what: run.ended || t("act-exit-code", { code: String(run.exitCode) }),
    });
  if (tested)
    return t("figures-tests", {
      passed: tested.filter(({ success }) => success).length,
      total: tested.length,
    });
  if (change) return t("outcome-of-file", { path: change.path, what: t(`act-${change.change}`) });
  return args.summary ?? args.reason ?? args.name ?? args.package;
}
