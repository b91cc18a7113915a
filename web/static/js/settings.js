// The settings: what the form holds, what of it has changed, and how the reducer follows the dialog.

import { words } from "./texts.js";

const OPENAI = "https://api.openai.com/v1";

// Servers by the addresses that they have unless told otherwise.
export const SERVERS = [
  { id: "offline", address: null },
  { id: "openai", address: OPENAI },
  { id: "ollama", address: "http://localhost:11434/v1" },
  { id: "lmstudio", address: "http://localhost:1234/v1" },
  { id: "vllm", address: "http://localhost:8000/v1" },
  { id: "llamacpp", address: "http://localhost:8080/v1" },
  { id: "jan", address: "http://localhost:1337/v1" },
  { id: "other", address: "" },
];

// The limits, by what they are of.
export const LIMITS = [
  ["turn", ["turn_max_seconds", "turn_max_calls", "turn_max_tokens", "turn_max_cost"]],
  ["build", ["synthesis_candidates", "synthesis_max_repairs"]],
  ["server", ["openai_timeout"]],
  ["people", ["month_max_cost", "turns_max_running", "turns_max_per_person", "turns_max_waiting"]],
  ["stored", ["keep_days"]],
];

const NUMBERS = LIMITS.flatMap(([, names]) => names);

const addressOf = ({ values, key_set: hasKey }) =>
  values.openai_base_url ?? (hasKey ? OPENAI : null);

const serverAt = (address) =>
  address === null ? "offline" : (SERVERS.find((s) => s.address === address)?.id ?? "other");

const written = (value) => (value === null ? "" : String(value));

// The settings as the form shows them, from the server's.
export function formOf(view) {
  const { values } = view;
  const address = addressOf(view);
  return {
    server: serverAt(address),
    address: address ?? "",
    key: "",
    removesKey: false,
    model: values.openai_model,
    learns: values.lessons_learn,
    asks: values.library_changes === "ask",
    ...Object.fromEntries(NUMBERS.map((name) => [name, written(values[name])])),
  };
}

// The form with another server: its usual address, and no key that was meant for the old one.
export function withServer(form, id) {
  const { address } = SERVERS.find((server) => server.id === id);
  return { ...form, server: id, address: address ?? "", key: "", removesKey: false };
}

// A number as people write it; anything else goes to the server as it is, which says what is wrong.
function numeric(text) {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return null;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : text.trim();
}

// The fields by which the server reaches the model that the form names.
export function connectionChanges(form, view) {
  const { values, key_set: hasKey, fixed } = view;
  const changes = {};
  const address = form.server === "offline" ? null : form.address.trim();
  if (address !== addressOf(view)) changes.openai_base_url = address;
  if (form.key.trim()) changes.openai_api_key = form.key.trim();
  else if (hasKey && (form.removesKey || address === null)) changes.openai_api_key = null;
  const model = form.model.trim();
  if (model !== values.openai_model) changes.openai_model = model || null;
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !(name in fixed)));
}

// All that the form changes, by the names of settings; null takes a choice back.
export function changesOf(form, view) {
  const { values, defaults, fixed } = view;
  const changes = connectionChanges(form, view);
  for (const name of NUMBERS) {
    const value = numeric(form[name]);
    if (name in fixed || value === values[name]) continue;
    if (value !== null || values[name] !== defaults[name]) changes[name] = value;
  }
  if (!("lessons_learn" in fixed) && form.learns !== values.lessons_learn)
    changes.lessons_learn = form.learns;
  const library = form.asks ? "ask" : "auto";
  if (!("library_changes" in fixed) && library !== values.library_changes)
    changes.library_changes = library;
  return changes;
}

// Problems that need no server to be known: {setting: kind}.
export function missing(form, view) {
  if ("openai_base_url" in view.fixed) return {};
  if (form.server === "other" && !form.address.trim()) return { openai_base_url: "address" };
  const keyed = form.key.trim() || (view.key_set && !form.removesKey && !losesKey(form, view));
  return form.server === "openai" && !keyed ? { openai_api_key: "missing" } : {};
}

// Why a value is refused, in words; rules without words of their own take the server's.
export const problemWords = ({ kind, message, limit }) =>
  words(`settings-problem-${kind}`, message, { limit: limit ?? 0 });

// The same of an error about several values, which names them as the server does.
export const errorWords = ({ message, fields }) =>
  fields ? Object.values(fields).map(problemWords).join(" ") : message;

// Whether the key that is set belongs to another server than the form names, and will be removed.
export const losesKey = (form, view) =>
  view.key_set &&
  !form.key.trim() &&
  !form.removesKey &&
  form.server !== "offline" &&
  origin(form.address.trim()) !== origin(addressOf(view) ?? "");

function origin(address) {
  try {
    return new URL(address).origin;
  } catch {
    return address;
  }
}

// The dialog's state: {view, error, fields, saved, test}; test: {id, abilities, end}, `end` null while it runs.
const opened = { view: null, error: null, fields: {}, saved: false, test: null };

const within = (state, change) =>
  state.settings ? { ...state, settings: { ...state.settings, ...change } } : state;

function told(state, { id, ability, suitability, error }) {
  const test = state.settings?.test;
  if (test?.id !== id || test.end) return state;
  if (ability) return within(state, { test: { ...test, abilities: [...test.abilities, ability] } });
  return within(state, { test: { ...test, end: error ? { error } : { suitability } } });
}

export const settingsChanges = {
  settings_opened: (state) => ({ ...state, settings: opened }),
  settings_closed: (state) => ({ ...state, settings: null }),
  settings_loaded: (state, { view }) => within(state, { view, error: null }),
  settings_edited: (state) => within(state, { saved: false, fields: {}, error: null }),
  settings_saved: (state, { view }) =>
    within(state, { view, saved: true, error: null, fields: {} }),
  settings_refused: (state, { error: { fields = {}, ...error } }) =>
    within(state, { error, fields, saved: false }),
  test_begun: (state, { id }) => within(state, { test: { id, abilities: [], end: null } }),
  test_told: told,
  test_stopped: (state) => within(state, { test: null }),
};

// The server reports nothing more of a test when the connection is lost.
export const withoutTest = (state) =>
  state.settings?.test?.end === null ? within(state, { test: null }) : state;
