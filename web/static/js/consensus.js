// The verdicts of candidates on tests and each other (src/selfeng/synthesis/consensus.py), and of
// mutants on the tests, from their JSON.

import { parsed } from "./results.js";
import { t } from "./texts.js";

// {candidates: [{name, words, state, code, refuted}], dropped: [{test, words, message}]}; null if
// the artifact is not valid.
export function parseConsensus(artifact) {
  const value = parsed(artifact);
  if (!Array.isArray(value?.reports)) return null;
  const total = value.kept;
  return {
    candidates: value.reports.map((report, index) => ({
      name: t("candidate", { number: index + 1, draws: report.draws }),
      words: candidateWords(report, total),
      state: report.failed.length || report.problem || report.refuted ? "failed" : "passed",
      code: report.code,
      refuted: report.refuted,
    })),
    dropped: value.dropped.map(({ test, against, of, message }) => ({
      test,
      words: t("dropped-by", { against, total: of }),
      message,
    })),
  };
}

function candidateWords({ passed, problem, refuted }, total) {
  if (problem) return problem;
  return refuted ? t("candidate-differs") : t("candidate-passes", { passed, total });
}

// On which call a candidate differs, and how.
export const differenceText = ({ call, others, own }) =>
  [call, t("difference-others", { value: others }), t("difference-own", { value: own })].join("\n");

// {killed, mutants, noticed, tried, survivors: [{line, before, after}]}, where noticed and tried
// are altered outcomes; null if the artifact is not valid. Older versions listed each change in
// words.
export function parseMutation(artifact) {
  const value = parsed(artifact);
  return Array.isArray(value?.survivors)
    ? {
        killed: value.killed,
        mutants: value.mutants,
        noticed: value.replay?.noticed ?? 0,
        tried: value.replay?.tried ?? 0,
        survivors: value.survivors.map(({ line, before, after, change = "" }) => ({
          line: line ?? null,
          before: before ?? change,
          after: after ?? "",
        })),
        notes: [
          ...(value.replay?.refused ?? []).map(([, reason]) => reason),
          ...(value.replay?.gaps ?? []),
        ],
      }
    : null;
}

// The share of planted bugs that tests have to catch to prove much.
export const WEAK = 0.8;

// The faults that the tests notice, in words; "" if none were measured. Altered outcomes count if mutants are too few.
export function noticedWords(found) {
  if (found?.mutants > 0)
    return t("outcome-caught", { killed: found.killed, mutants: found.mutants });
  return found?.tried > 0
    ? t("outcome-altered", { noticed: found.noticed, tried: found.tried })
    : "";
}
