// The state of model, sandbox and library in words, from the server's report on its health.

import { inWords } from "./cause.js";
import { t } from "./texts.js";

const TONES = ["bad", "warn", "idle", "good"]; // what needs attention most comes first

const status = (id, state, tone, word, title = word) => ({
  id,
  label: t(`status-${id}`),
  state,
  tone,
  word,
  title,
});

const unknown = (id) => status(id, "unknown", "idle", "…", t(`status-${id}-checking`));

export function modelStatus(health) {
  const model = health?.model;
  if (!model) return unknown("model");
  const { name, server, offline, trouble, cause, answers } = model;
  if (offline) return status("model", "offline", "warn", t("status-model-offline"));
  if (trouble) {
    const word = t(cause === "no_access" ? "status-model-refused" : "status-model-gone");
    const { message } = inWords({ kind: "model", cause, values: { server, model: name } });
    return status("model", "unreachable", "bad", word, message);
  }
  if (answers) return status("model", "online", "good", name);
  return status("model", "unknown", "idle", name, t("status-model-checking"));
}

// Whether the sandbox is still being set up, after a first start.
export const isPreparing = (unready = []) =>
  unready.some(({ part, state }) => part === "sandbox" && state !== "failed");

export function sandboxStatus(health) {
  if (!health?.sandbox) return unknown("sandbox");
  if (isPreparing(health.unready))
    return status(
      "sandbox",
      "preparing",
      "idle",
      t("status-sandbox-preparing"),
      t("status-sandbox-preparing-title"),
    );
  const state = health.sandbox.available ? "available" : "unavailable";
  return status(
    "sandbox",
    state,
    health.sandbox.available ? "good" : "bad",
    t(`status-sandbox-${state}`),
    t(`status-sandbox-${state}-title`),
  );
}

export function libraryStatus(health, count = health?.library?.tools) {
  return count == null
    ? unknown("library")
    : status("library", "loaded", "good", t("status-tools", { count }));
}

// One for all: the first of those that need attention most.
export function worst(all) {
  const [first] = all.toSorted((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
  return first.tone === "good" ? { ...first, word: t("status-ready") } : first;
}
