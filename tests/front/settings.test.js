// The changes by the settings' form, and how the dialog's state follows the server.

import assert from "node:assert/strict";
import test from "node:test";

import { initialState, reduce } from "../../web/static/js/reducer.js";
import {
  changesOf,
  connectionChanges,
  errorWords,
  formOf,
  losesKey,
  missing,
  problemWords,
  withServer,
} from "../../web/static/js/settings.js";
import { modelStatus, sandboxStatus, worst } from "../../web/static/js/statuses.js";

const DEFAULTS = {
  openai_base_url: null,
  openai_model: "gpt-4",
  openai_timeout: 60,
  turn_max_seconds: 600,
  turn_max_calls: 40,
  turn_max_tokens: 400000,
  turn_max_cost: null,
  month_max_cost: null,
  keep_days: 0,
  synthesis_candidates: 3,
  synthesis_max_repairs: 3,
  lessons_learn: true,
  library_changes: "auto",
  turns_max_running: 24,
  turns_max_per_person: 16,
  turns_max_waiting: 100,
};
const view = (more = {}, values = {}) => ({
  values: { ...DEFAULTS, ...values },
  defaults: DEFAULTS,
  key_set: false,
  fixed: {},
  elsewhere: [],
  ...more,
});
const OLLAMA = { openai_base_url: "http://localhost:11434/v1", openai_model: "llama" };

test("an untouched form changes nothing, whatever is set", () => {
  for (const one of [view(), view({ key_set: true }), view({ key_set: true }, OLLAMA)])
    assert.deepEqual(changesOf(formOf(one), one), {});
});

test("the server is told apart by its address, and the offline model by having none", () => {
  const told = [view(), view({ key_set: true }), view({}, OLLAMA)].map((v) => formOf(v).server);
  assert.deepEqual(told, ["offline", "openai", "ollama"]);
  assert.equal(formOf(view({}, { openai_base_url: "http://10.0.0.7/v1" })).server, "other");
});

test("a server is chosen with its usual address, its key and its model", () => {
  const form = { ...withServer(formOf(view()), "openai"), key: " sk-1 ", model: "gpt-5" };
  assert.deepEqual(changesOf(form, view()), {
    openai_base_url: "https://api.openai.com/v1",
    openai_api_key: "sk-1",
    openai_model: "gpt-5",
  });
});

test("going offline takes server and key back", () => {
  const online = view({ key_set: true }, OLLAMA);
  assert.deepEqual(changesOf(withServer(formOf(online), "offline"), online), {
    openai_base_url: null,
    openai_api_key: null,
  });
});

test("numbers are read as people write them, and an empty field is the default", () => {
  const now = view({}, { turn_max_calls: 7, turn_max_cost: 2 });
  const form = {
    ...formOf(now),
    turn_max_calls: "",
    turn_max_cost: " ",
    turn_max_seconds: "90,5",
    turn_max_tokens: "many",
    learns: false,
  };
  assert.deepEqual(changesOf(form, now), {
    turn_max_calls: null,
    turn_max_cost: null,
    turn_max_seconds: 90.5,
    turn_max_tokens: "many",
    lessons_learn: false,
  });
});

test("what is fixed elsewhere is never sent", () => {
  const now = view({ fixed: { openai_model: "environment", turn_max_calls: ".env" } });
  const form = { ...formOf(now), model: "x", turn_max_calls: "1" };
  assert.deepEqual(changesOf(form, now), {});
});

test("a key stays with its server", () => {
  const now = view({ key_set: true }, OLLAMA);
  const moved = { ...formOf(now), server: "other", address: "http://elsewhere:11434/v1" };
  assert.deepEqual(
    [
      losesKey(formOf(now), now),
      losesKey({ ...formOf(now), address: "http://localhost:11434/v2" }, now),
      losesKey(moved, now),
      losesKey({ ...moved, key: "new" }, now),
    ],
    [false, false, true, false],
  );
});

test("a key is removed when that is asked for", () => {
  const now = view({ key_set: true }, OLLAMA);
  const form = { ...formOf(now), removesKey: true };
  assert.deepEqual(connectionChanges(form, now), { openai_api_key: null });
});

test("what can be known without the server is told at once", () => {
  assert.deepEqual(missing(withServer(formOf(view()), "openai"), view()), {
    openai_api_key: "missing",
  });
  assert.deepEqual(missing(withServer(formOf(view()), "other"), view()), {
    openai_base_url: "address",
  });
  assert.deepEqual(missing(formOf(view()), view()), {});
});

test("refused values are told in words, without the names of settings", () => {
  const tooSmall = { kind: "greater_than_equal", limit: 1, message: "Input should be …" };
  assert.equal(problemWords(tooSmall), "At least 1.");
  assert.equal(problemWords({ kind: "unheard_of", message: "No." }), "No.");
  assert.equal(
    errorWords({ message: "turn_max_calls: …", fields: { a: tooSmall } }),
    "At least 1.",
  );
});

const after = (...actions) =>
  actions.reduce(reduce, reduce(initialState, { type: "settings_opened" })).settings;
const ability = (way) => ({ purpose: "text", way, works: true, detail: "" });

test("a test collects abilities until its end, and those of an older one are dropped", () => {
  const suitability = { usable: true, missing: [], wasted: 0 };
  const { test: done } = after(
    { type: "test_begun", id: "a" },
    { type: "test_begun", id: "b" },
    { type: "test_told", id: "a", ability: ability("stream") },
    { type: "test_told", id: "b", ability: ability("words") },
    { type: "test_told", id: "b", suitability },
    { type: "test_told", id: "b", ability: ability("late") },
  );
  assert.deepEqual(done, { id: "b", abilities: [ability("words")], end: { suitability } });
});

test("a lost connection ends a running test, and nothing else of the dialog", () => {
  const lost = { type: "connection_changed", connection: "reconnecting" };
  const state = after(
    { type: "settings_loaded", view: view() },
    { type: "test_begun", id: "a" },
    lost,
  );
  assert.deepEqual([state.test, state.view], [null, view()]);
});

test("news of a closed dialog change nothing", () => {
  for (const action of [
    { type: "test_told", id: "a", ability: ability("stream") },
    { type: "settings_refused", error: { message: "no", remedy: "" } },
    { type: "settings_loaded", view: view() },
  ])
    assert.equal(reduce(initialState, action).settings, null);
});

const model = (more) => ({
  model: { name: "m", offline: false, answers: false, trouble: "", cause: "", ...more },
});

test("the model's state tells what is known of its server", () => {
  const told = [
    undefined,
    model({ offline: true }),
    model({}),
    model({ answers: true }),
    model({ trouble: "gone", cause: "unreachable" }),
    model({ trouble: "refused", cause: "no_access", answers: true }),
  ].map((health) => {
    const { state, tone, word } = modelStatus(health);
    return [state, tone, word];
  });
  assert.deepEqual(told, [
    ["unknown", "idle", "…"],
    ["offline", "warn", "Offline model"],
    ["unknown", "idle", "m"],
    ["online", "good", "m"],
    ["unreachable", "bad", "Not reachable"],
    ["unreachable", "bad", "Access refused"],
  ]);
});

test("one dot shows what needs attention most", () => {
  const good = modelStatus(model({ answers: true }));
  const bad = sandboxStatus({ sandbox: { available: false } });
  assert.deepEqual(
    [worst([good, bad]), worst([good, good])].map(({ tone, word }) => [tone, word]),
    [
      ["bad", "Unavailable"],
      ["good", "Ready"],
    ],
  );
});
