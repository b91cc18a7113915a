// The events of a project, as steps of a turn: each action with its result, and each examination.
// `turn.build` is the state of the whole build.

import { parsed } from "./results.js";
import { close, open, patch } from "./steps.js";
import { t } from "./texts.js";

const EDITS = new Set(
  "create_file write_file replace_lines insert_lines remove_lines delete_file".split(" "),
);
// A build's own changes of a file, such as to list the packages that it needs; outside of one a backup is restored.
const OF_CHANGE = {
  created: "create_file",
  edited: "write_file",
  unchanged: "write_file",
  deleted: "delete_file",
};
export const ACTIONS = [
  ...EDITS,
  ..."execute_py_file run_tests read_run add_package finish give_up".split(" "),
];

const newBuild = { name: "", figures: null, waits: null, touched: 0 };
const isActing = (test) => (step) => step.state === "running" && test(step.kind);
const isCheck = (step) => step.kind === "project_check" && step.state === "running";
const is = (kind) => isActing((k) => k === kind);
const outcome = (success) => (success ? "done" : "failed");

// `waits` is what a person is asked, until the next event; `touched` grows when the files may have changed.
function changed(turn, steps, more = {}) {
  return { ...turn, steps, build: { ...newBuild, ...turn.build, waits: null, ...more } };
}

const touched = (turn) => ({ touched: (turn.build?.touched ?? 0) + 1 });

export const projectFolds = {
  project_started: (turn, { project }) => changed(turn, turn.steps, { name: project }),
  project_act_chosen(turn, { action, arguments: text, reasoning }, at) {
    return changed(
      turn,
      open(settled(turn.steps, at), {
        kind: action,
        startedAt: at,
        arguments: parsed(text, {}),
        reasoning,
      }),
    );
  },
  project_paused(turn, { action, package: wanted = "" }) {
    return changed(turn, turn.steps, { waits: { action, package: wanted } });
  },
  project_changed(turn, { path, change, diff }, at) {
    const acting = isActing((kind) => EDITS.has(kind));
    const known = turn.steps.some(acting);
    const kind = turn.build?.name ? OF_CHANGE[change] : "restored";
    const steps = known ? turn.steps : open(turn.steps, { kind, startedAt: at });
    const which = known ? acting : is(kind);
    return changed(
      turn,
      close(patch(steps, which, { change: { path, change, diff } }), which, "done", at),
      touched(turn),
    );
  },
  project_ran(
    turn,
    {
      path,
      arguments: args,
      success,
      exit_code: exitCode,
      ended,
      stdout,
      stderr,
      made,
      refused,
      seconds,
    },
    at,
  ) {
    const run = { path, arguments: args, success, exitCode, ended, stdout, stderr, made, refused };
    const acting = is("execute_py_file");
    if (turn.steps.some(acting))
      return changed(
        turn,
        patch(turn.steps, acting, { run, state: outcome(success), seconds }),
        touched(turn),
      );
    return changed(turn, patch(checking(turn.steps, at), isCheck, { run }));
  },
  project_tested(turn, { path, success, output, seconds }, at) {
    const tested = { path, success, output, seconds };
    const acting = turn.steps.some(is("run_tests")) ? is("run_tests") : isCheck;
    const steps = acting === isCheck ? checking(turn.steps, at) : turn.steps;
    return changed(
      turn,
      patch(steps, acting, (step) => ({ tested: [...(step.tested ?? []), tested] })),
    );
  },
  project_reasoned(turn, event, at) {
    const figures = figuresOf(event);
    const steps = checking(settled(turn.steps, at), at);
    return changed(
      turn,
      patch(steps, isCheck, { figures, state: outcome(passes(figures)), seconds: event.seconds }),
      { figures, ...touched(turn) },
    );
  },
};

const figuresOf = (event) => ({
  files: event.file_count,
  python: event.python_files,
  invalid: event.invalid,
  passed: event.tests_passed,
  failed: event.tests_failed,
  main: event.main_success,
});

const passes = ({ files, python, invalid, failed, main }) =>
  (files === 0 || python > 0) && invalid.length === 0 && failed === 0 && main !== false;

const checking = (steps, at) =>
  steps.some(isCheck) ? steps : open(settled(steps, at), { kind: "project_check", startedAt: at });

// Ends the last action; an edit that changed nothing was not possible.
function settled(steps, at) {
  const failed = (step) =>
    (EDITS.has(step.kind) && !step.change) || (step.tested ?? []).some((t) => !t.success);
  const mine = isActing((kind) => ACTIONS.includes(kind));
  return close(
    close(steps, (step) => mine(step) && failed(step), "failed", at),
    mine,
    "done",
    at,
  );
}

// A short summary for people: how far the project is.
export function figuresText({ files, invalid, passed, failed, main, stale = false }) {
  const facts = [t("figures-files", { count: files })];
  if (invalid.length > 0) facts.push(t("figures-invalid", { count: invalid.length }));
  if (passed + failed > 0) facts.push(t("figures-tests", { passed, total: passed + failed }));
  if (main !== null) facts.push(t(main ? "figures-main-works" : "figures-main-fails"));
  if (stale) facts.push(t("figures-stale"));
  return facts.join(" · ");
}

// The lines of a unified diff, without the two that name the file: {change: same | added | removed | skipped, text}.
export function unifiedLines(diff) {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .slice(2)
    .map((line) => {
      if (/^(@@|\\)/.test(line)) return { change: "skipped", text: line };
      const change = { "+": "added", "-": "removed" }[line[0]] ?? "same";
      return { change, text: line.slice(1) };
    });
}
