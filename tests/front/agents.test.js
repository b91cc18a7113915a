import assert from "node:assert/strict";
import test from "node:test";

import { announcementOf } from "../../web/static/js/announcement.js";
import { runningStep } from "../../web/static/js/delegation.js";
import {
  answersOf,
  askedBy,
  choicesOf,
  initialValues,
  isComplete,
  saidWith,
  valueWords,
  wordsOf,
} from "../../web/static/js/questions.js";
import { foldEvent, newTurn } from "../../web/static/js/turn.js";
import {
  executed,
  executing,
  finished,
  journal,
  returned,
  second,
  started,
  stopped,
  token,
} from "./journal.js";

const message = (id, sender, recipient, state, text, more = {}) => ({
  type: "delegation",
  id,
  sender,
  recipient,
  state,
  text,
  thread: "",
  seconds: 1,
  ...more,
});
const code = (state, more = {}) => ({
  type: "code_run",
  run: 1,
  state,
  code: "",
  execution: null,
  seconds: 0,
  within: "2",
  ...more,
});
const WORK = [
  started("write a script"),
  message("1", "user", "proxy", "started", "write a script"),
  message("2", "proxy", "coder", "started", "write it", { within: "1" }),
  code("started", { code: "print(1)" }),
];
const DONE = [
  ...WORK,
  code("finished", { execution: returned }),
  { type: "files_made", tool: "coder", files: [{ name: "a.py" }], within: "2" },
  { ...executing, within: "2" },
  { ...executed, within: "2" },
  message("2", "proxy", "coder", "finished", "It prints 1.", { within: "1" }),
  message("1", "user", "proxy", "finished", "Done."),
  token("Done."),
  finished("Done."),
];

const folded = (events) =>
  journal(events).reduce(
    (turn, { event, at }) => foldEvent(turn, event, Date.parse(at)),
    newTurn("t1", second(1)),
  );
const tree = (steps) =>
  steps.map((s) =>
    s.kind === "delegation"
      ? [`${s.sender} ${s.recipient} ${s.state}: ${s.reply}`, tree(s.steps)]
      : `${s.kind} ${s.state}`,
  );

test("what a message causes is nested in it, to any depth", () => {
  const turn = folded(DONE);
  assert.deepEqual(tree(turn.steps), [
    [
      "user proxy done: Done.",
      [["proxy coder done: It prints 1.", ["code_run done", "execute done"]]],
    ],
    "respond done",
  ]);
  assert.deepEqual(turn.made, [{ name: "a.py" }]);
});

test("the step that runs now is the innermost", () => {
  assert.equal(runningStep(folded(WORK).steps).kind, "code_run");
  assert.equal(runningStep(folded(DONE).steps), undefined);
});

test("the stages that a message went through are the message's, and end with it", () => {
  const at = (node) => ({ type: "stage_entered", node, symbol: "", plan_step: "", within: "2" });
  const ends = (...last) =>
    folded([...WORK.slice(0, 3), at("gather"), at("search"), ...last]).steps[0].steps[0].course.map(
      ({ node, state }) => `${node} ${state}`,
    );
  assert.deepEqual(ends(), ["gather done", "search running"]);
  assert.deepEqual(ends(message("2", "proxy", "coder", "finished", "3", { within: "1" })), [
    "gather done",
    "search done",
  ]);
  assert.deepEqual(ends(stopped("no more")), ["gather done", "search stopped"]);
});

test("a project that an agent builds is drawn as any other, in its message", () => {
  const step = (event) => ({ project: "song", epoch: 1, within: "1", ...event });
  const turn = folded([
    started("write a song"),
    message("1", "user", "builder", "started", "write a song"),
    step({ type: "project_started", goal: "a song", path: "/x", file_count: 0, resumed: false }),
    step({
      type: "project_act_chosen",
      action: "create_file",
      arguments: '{"name": "main.py"}',
      reasoning: "It lacks.",
    }),
    step({ type: "project_changed", path: "main.py", change: "created", diff: "", backup: "" }),
    step({ type: "project_tested", path: "test_main.py", success: true, output: "", seconds: 1 }),
    step({
      type: "project_reasoned",
      file_count: 2,
      python_files: 2,
      invalid: [],
      tests_passed: 1,
      tests_failed: 0,
      main_success: null,
      seconds: 1,
    }),
    message("1", "user", "builder", "finished", "It sings."),
    finished("It sings."),
  ]);
  assert.deepEqual(tree(turn.steps), [
    ["user builder done: It sings.", ["create_file done", "project_check done"]],
  ]);
  assert.equal(turn.build, undefined);
});

test("stopping a turn stops all of it", () => {
  assert.deepEqual(tree(folded([...WORK, stopped("no more")]).steps), [
    ["user proxy stopped: ", [["proxy coder stopped: ", ["code_run stopped"]]]],
    "turn_stopped stopped",
  ]);
});

test("messages between agents are announced, the work in them is not", () => {
  const said = DONE.map((event) => announcementOf({ event })).filter(Boolean);
  assert.deepEqual(said, [
    "You to user proxy: write a script",
    "user proxy to coder: write it",
    "coder replies: It prints 1.",
    "user proxy replies: Done.",
    "Answer: Done.",
  ]);
});

const UNIT = {
  id: "unit",
  question: "Which unit?",
  why: "",
  answer: "choice",
  options: ["m", "ft"],
  default: "m",
};
const SURE = {
  id: "sure",
  question: "Sure?",
  why: "",
  answer: "yes_no",
  options: [],
  default: null,
};

test("answers stand beside the request that they complete", () => {
  const answers = [{ id: "unit", value: "ft", question: "Which unit?" }];
  const { request, answers: kept } = folded([{ ...started("how long?"), answers }]);
  assert.deepEqual([request, kept], ["how long?", answers]);
});

test("questions are kept with the turn, and answers told in words and as data", () => {
  const { questions } = folded([
    started("convert"),
    { type: "questions_asked", questions: [UNIT, SURE], intro: "First:", agent: "" },
    finished("First:"),
  ]);
  const shown = [UNIT, SURE].map((one) => ({ ...one, label: one.question, why: one.why ?? "" }));
  assert.deepEqual(questions, { questions: shown, intro: "First:", lacks: null });
  const values = initialValues(questions.questions);
  assert.deepEqual(values, { unit: "m", sure: "" });
  assert.deepEqual([isComplete([UNIT, SURE], values), isComplete([UNIT], values)], [false, true]);
  assert.deepEqual(answersOf([UNIT, SURE], { unit: "ft", sure: "yes " }), {
    unit: "ft",
    sure: "yes",
  });
  assert.equal(wordsOf([UNIT, SURE], { unit: "ft", sure: "yes" }), "Which unit? ft\nSure? yes");
  assert.deepEqual([UNIT, SURE, { answer: "text", options: [] }].map(choicesOf), [
    ["m", "ft"],
    ["yes", "no"],
    [],
  ]);
});

test("a question of the server is asked in the page's words, and repeated to it in its own", () => {
  const id = "allow_1";
  const asked = {
    questions: [{ id, question: "May I?", why: "With all.", answer: "choice" }],
    intro: "",
    code: "consent",
    values: {
      tool: "w",
      server: "s",
      address: "x",
      arguments: "{}",
      description: "none",
      effect: "",
    },
  };
  const { questions, intro } = askedBy(asked);
  assert.equal(intro, "");
  assert.equal(questions[0].label, "May w of the server s be called? (x)");
  assert.equal(questions[0].why, "With {}.  It runs outside the sandbox.");
  assert.equal(wordsOf(questions, { [id]: "once" }), "May I? once");
  const values = { ...asked.values, description: "Writes.", effect: "reads" };
  assert.equal(
    askedBy({ ...asked, values }).questions[0].why,
    "With {}. The server says of it: “Writes.”. It runs outside the sandbox, and by its own claim only reads.",
  );
  const lacking = askedBy({
    questions: [UNIT, SURE],
    intro: "I need:",
    code: "values",
    values: {},
  });
  assert.deepEqual(
    [lacking.intro, lacking.questions[0].label],
    ["To do this I still need:", "Which unit?"],
  );
});

test("a turn with answers says these, not the request that they complete once more", () => {
  const before = { request: "Convert 3", outcome: "asked", questions: { questions: [UNIT, SURE] } };
  const answers = [
    { id: "unit", value: "ft" },
    { id: "sure", value: "yes" },
  ];
  const said = (request, given, turn) => saidWith({ request, answers: given }, turn);
  assert.equal(said("Convert 3", answers, before), "ft · yes");
  assert.equal(said("Which unit? ft\nSure? yes", answers, before), "ft · yes");
  assert.equal(said("Take feet", answers, before), "Take feet");
  assert.equal(said("Convert 4", [], before), "Convert 4");
  assert.equal(said("Convert 3", answers, { outcome: "answered" }), "Convert 3");
  assert.equal(valueWords(UNIT, "yes"), "yes");
});
