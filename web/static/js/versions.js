// Versions and standing of a tool, in words, and the pair that the page compares.

import { list, usageText } from "./format.js";
import { t, words } from "./texts.js";

export const standingWords = (standing) => words(`standing-${standing}`, standing);

export const standingTitle = (standing) => words(`standing-title-${standing}`, "");

// The author of a tool or of a version.
export function authorWords(model) {
  if (!model) return t("author-hand");
  return model === "offline" ? t("author-offline") : t("author-model", { model });
}

// Why a version was made; in the server's words if this page does not know the reason.
export function originWords({ origin, why }) {
  const { how, failure, parameters, factor, to, tool, version } = origin ?? {};
  const said = { failure: failure ?? "", factor: String(Number(factor?.toPrecision(3))) };
  switch (how) {
    case "created":
    case "edited":
    case "corrected":
      return t(`origin-${how}`);
    case "repaired":
      return t(failure ? "origin-repaired-from" : "origin-repaired", said);
    case "extended":
      return t("origin-extended", { parameters: list(parameters), count: parameters.length });
    case "rolled_back":
      return t("origin-rolled_back", { to });
    case "requirement_changed":
    case "merged":
      return t(`origin-${how}`, { tool, version });
    case "imported":
      return importWords(origin);
    case "refactored":
      return t("origin-refactored", said);
    default:
      return why;
  }
}

// Where a tool of another library came from, and who signed it.
export function importWords({ file, signer, signer_name: name }) {
  if (!signer) return t("origin-imported-unsigned", { file });
  return name ? t("origin-imported", { file, name }) : t("origin-imported-unknown", { file });
}

export function versionFacts({ model, tests, usage }) {
  return [authorWords(model), testsText(tests), usageText(usage)].filter(Boolean).join(" · ");
}

const testsText = (tests) =>
  tests &&
  t(tests.passed === tests.total ? "version-tests-passed" : "version-tests", {
    passed: tests.passed,
    total: tests.total,
  });

// The two versions to compare: the chosen ones if they exist, else the newest and the one before it.
// Null if there are fewer than two. `versions` has the newest first.
export function compared(versions, { from, to }) {
  if (versions.length < 2) return null;
  const numbers = versions.map((v) => v.version);
  const after = numbers.includes(to) ? to : numbers[0];
  const before = numbers.includes(from)
    ? from
    : (numbers.find((n) => n < after) ?? numbers.find((n) => n !== after));
  return { from: before, to: after };
}

// The key of a version's sources; they never change.
export const versionKey = (name, number) => `${name} ${number}`;
