// The cause of a failure, in the page's words: the server sends codes and values, the catalogue has the sentences.

import { stepWords } from "./format.js";
import { latest } from "./steps.js";
import { hasText, t } from "./texts.js";

// Parts that the work needs: where one of them failed, the same request may succeed later.
const PARTS = ["budget", "model", "sandbox", "library", "request"];
const LASTING = ["declined", "too_long"];
const BY_ITSELF = ["interrupted", "overloaded", "declined", "steps"]; // no setting helps

// How the newest call of a tool ended.
const called = (steps) => latest(steps, "execute")?.execution ?? {};
const raised = (steps) => (called(steps).outcome === "raised" ? called(steps).type_name : "");

// The first of these messages that there is; records of older versions have no values.
function firstOf(ids, values) {
  const id = ids.find(hasText);
  const unnamed = ["server", "model", "name"].map((one) => [one, t(`named-${one}`)]);
  return id ? t(id, { ...Object.fromEntries(unnamed), ...values }) : "";
}

export const titleOf = ({ kind, cause, values }) =>
  cause && firstOf([`cause-${kind}-${cause}`], values);

export const remedyOf = ({ kind, cause, values, where }) =>
  firstOf([`remedy-${kind}-${cause}`, `remedy-at-${where}`, `remedy-${kind}`], values);

const own = ({ message, remedy }) => [message, remedy].filter(Boolean).join("\n");

// An error of the server for people; its own words are details. The page's own errors have no kind.
export const inWords = (error) =>
  error.kind
    ? {
        message: titleOf(error) || t(`cause-${error.kind}`),
        remedy: remedyOf(error),
        details: own(error),
        settings: settingsHelp(error),
        fields: error.fields,
      }
    : error;

// The failure of a turn; the words of a model are for the person, those of the server are details.
export function failureOf({ where, kind = "internal", cause = "", values, ...said }) {
  const failure = { where, kind, cause, values };
  const isForPeople = cause === "said";
  return {
    ...failure,
    remedy: remedyOf(failure),
    message: isForPeople ? said.message : "",
    details: isForPeople ? "" : own(said),
  };
}

// Of a turn that did what it could, in vain.
export function vainFailure(steps, made) {
  const { outcome, refused_files: refused = [] } = called(steps);
  const how = refused.length > 0 && made.length === 0 ? "refused" : (outcome ?? "task");
  const remedy = firstOf([`remedy-${how}`, "remedy-task"]);
  return { where: "", kind: "task", cause: "", message: "", details: "", remedy };
}

// Kinds, causes and places come from the server; one without words of its own takes those of what it belongs to.
export function causeOf({ failure, steps }) {
  const { where, kind } = failure;
  const title = titleOf(failure) || (PARTS.includes(kind) && t(`cause-${kind}`));
  if (title) return title;
  const type = raised(steps);
  if (type && (!where || where === "execute")) return t("cause-raised", { type });
  if (!where) return t("cause-other");
  return firstOf([`cause-at-${where}`]) || t("cause-at", { step: stepWords(where) });
}

// How far a turn came that reached a limit.
export function reachedOf({ steps }) {
  const tallies = steps
    .filter(({ kind }) => kind === "verify")
    .map(({ tests }) => [tests.filter(({ outcome }) => outcome === "passed").length, tests.length]);
  const [[passed, total] = [0, 0]] = tallies.toSorted(([a], [b]) => b - a);
  if (total > 0) return t("reached-verify", { passed, total });
  const step = ["test", "specify"].find((kind) => latest(steps, kind)?.state === "done");
  return step ? t(`reached-${step}`) : "";
}

// Whether the settings help: another server, key, model or limit.
export const settingsHelp = ({ kind, cause }) =>
  ["model", "budget"].includes(kind) && !BY_ITSELF.includes(cause);

// Whether other words help: the same request would fail the same way.
export const isBetterRephrased = ({ failure: { where, kind, cause }, steps }) =>
  PARTS.includes(kind) ? LASTING.includes(cause) : where === "specify" || Boolean(raised(steps));
