// Records as the server sends them: one second apart, numbered from 1.

export const START = Date.parse("2025-01-01T00:00:00Z");
export const second = (n) => START + n * 1000;
export const USAGE = { calls: 5, input_tokens: 2380, output_tokens: 420, cost: 0.0123 };

// `entries` are events of turn "t1", or pairs [turn id, event].
export function journal(entries, { conversationId = "c1", from = 1 } = {}) {
  return entries.map((entry, i) => {
    const [turnId, event] = Array.isArray(entry) ? entry : ["t1", entry];
    const at = new Date(second(from + i)).toISOString();
    return { conversation_id: conversationId, seq: from + i, turn_id: turnId, at, event };
  });
}

export const started = (request) => ({ type: "turn_started", request });
export const searching = { type: "searching" };
export const found = {
  type: "tool_found",
  tool: "calculate_percentage",
  confidence: 0.93,
  considered: ["calculate_percentage", "add"],
  confidences: [0.41, 0.07],
  reason: "",
  seconds: 0.2,
};
export const notFound = {
  type: "no_tool_found",
  reason: "The library is empty.",
  considered: [],
  confidences: [],
  seconds: 0.1,
};
export const token = (text) => ({ type: "answer_token", text });
export const executing = {
  type: "executing",
  tool: "calculate_percentage",
  arguments: '{"part": 15, "whole": 300}',
};
export const returned = {
  outcome: "returned",
  type_name: "float",
  text: "45.0",
  data: "45.0",
  truncated: false,
  stdout: "",
  seconds: 0.01,
};
export const executed = {
  type: "execution_finished",
  tool: "calculate_percentage",
  execution: returned,
  seconds: 0.3,
};
export const finished = (answer, tool = null) => ({
  type: "turn_finished",
  answer,
  tool,
  usage: USAGE,
  seconds: 4.5,
});
export const stopped = (reason) => ({ type: "turn_stopped", reason, usage: USAGE, seconds: 2 });
export const failed = (where, message, remedy = "") => ({
  type: "turn_failed",
  where,
  message,
  remedy,
  usage: USAGE,
  seconds: 3,
});

export const mismatch = (then) => ({
  type: "tool_mismatch",
  tool: "calculate_percentage",
  problem: "the whole is missing",
  then,
});

export function step(name, state, more = {}) {
  return {
    type: "synthesis_step",
    step: name,
    state,
    attempt: 1,
    text: "",
    artifact: "",
    prompt: "",
    seconds: 0,
    ...more,
  };
}

export const result = (test, outcome = "passed", message = "") => ({
  test,
  outcome,
  seconds: 0.25,
  message,
});

export function tested(against, test, outcome, attempt = 1) {
  return { type: "test_finished", against, attempt, result: result(test, outcome) };
}

export function repeated(against, order, detail = "", attempt = 1) {
  return { type: "suite_repeated", against, attempt, order, same: detail === "", detail };
}

// A whole synthesis whose first implementation fails one of two tests and is repaired.
export const REPAIRED = [
  started("Reverse 'ab'"),
  searching,
  notFound,
  step("specify", "started", { prompt: "specification" }),
  step("specify", "finished", {
    text: "reverse(text: str) -> str",
    artifact: "{}",
    prompt: "specification",
    seconds: 1.5,
  }),
  step("test", "started", { prompt: "tests" }),
  step("test", "streaming", { text: "def test_", prompt: "tests" }),
  step("test", "streaming", { text: "a(): ...", prompt: "tests" }),
  tested("stub", "test_a", "failed"),
  tested("stub", "test_b", "error"),
  repeated("stub", "reversed"),
  repeated("stub", "shuffled"),
  step("test", "finished", {
    text: "2 tests",
    artifact: "def test_a(): ...",
    prompt: "tests",
    seconds: 2,
  }),
  step("implement", "started", { prompt: "implementation" }),
  step("implement", "streaming", { text: "return text", prompt: "implementation" }),
  step("implement", "finished", {
    artifact: "return text",
    prompt: "implementation",
    seconds: 1,
  }),
  step("verify", "started"),
  tested("implementation", "test_a", "passed"),
  tested("implementation", "test_b", "failed"),
  step("verify", "failed", { text: "1 of 2 tests failed: test_b", seconds: 0.6 }),
  step("implement", "started", { attempt: 2, prompt: "repair" }),
  step("implement", "finished", {
    attempt: 2,
    artifact: "return text[::-1]",
    prompt: "repair",
    seconds: 1.25,
  }),
  step("verify", "started", { attempt: 2 }),
  tested("implementation", "test_a", "passed", 2),
  tested("implementation", "test_b", "passed", 2),
  repeated("implementation", "reversed", "", 2),
  repeated("implementation", "shuffled", "", 2),
  step("verify", "finished", { attempt: 2, text: "2 tests passed.", seconds: 0.5 }),
  step("register", "started"),
  step("register", "finished", { text: "reverse is in the library.", seconds: 0.05 }),
  { type: "executing", tool: "reverse", arguments: '{"text": "ab"}' },
  { type: "execution_finished", tool: "reverse", execution: returned, seconds: 0.3 },
  token("It is "),
  token("`ba`."),
  finished("It is `ba`.", "reverse"),
];
