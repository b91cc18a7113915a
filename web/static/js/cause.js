// Why a turn failed: a title that names the cause, and which action helps.

import { stepWords } from "./format.js";
import { latest } from "./steps.js";
import { hasText, t } from "./texts.js";

// Parts that the work needs: where one of them failed, the same request may succeed later.
const PARTS = ["budget", "model", "sandbox", "library"];
const LASTING = ["declined", "too_long"];

// The type of the exception that ended the newest call of a tool, "" if none did.
function raised(steps) {
  const { state, execution } = latest(steps, "execute") ?? {};
  return state === "failed" && execution?.outcome === "raised" ? execution.type_name : "";
}

const worded = (id) => (hasText(id) ? t(id) : "");

// Kinds, causes and places come from the server; one without words of its own takes those of what it belongs to.
export function causeOf({ failure: { where, kind, cause }, steps }) {
  if (PARTS.includes(kind)) return worded(`cause-${kind}-${cause}`) || t(`cause-${kind}`);
  const type = raised(steps);
  if (type && (!where || where === "execute")) return t("cause-raised", { type });
  if (where) return worded(`cause-at-${where}`) || t("cause-at", { step: stepWords(where) });
  return t("cause-other");
}

// What to do, in words for the page where the engine's name a setting.
export const remedyOf = ({ kind, cause, remedy }) => worded(`remedy-${kind}-${cause}`) || remedy;

// Whether another server, key or model helps.
export const settingsHelp = ({ failure: { kind, cause } }) =>
  cause === "month" ||
  (kind === "model" && ["unreachable", "no_access", "rejected"].includes(cause));

// Whether other words help: the same request would fail the same way.
export const isBetterRephrased = ({ failure: { where, kind, cause }, steps }) =>
  PARTS.includes(kind) ? LASTING.includes(cause) : where === "specify" || Boolean(raised(steps));
