// Versions and standing of a tool, in words and as what the page compares.

import { plural, usageText } from "./format.js";

const STANDINGS = {
  provisional: "New: it has not served enough different calls yet to be trusted.",
  trusted: "It has served several different calls.",
  retired: "No search offers it any more. It can be restored.",
};

export const standingTitle = (standing) => STANDINGS[standing] ?? "";

// Which tools the list shows: retired ones only on request.
export const offered = (tools, showRetired) =>
  showRetired ? tools : tools.filter((t) => t.standing !== "retired");

export const retiredCount = (tools) => tools.length - offered(tools, false).length;

export function versionFacts({ model, tests, usage }) {
  return [`by ${model || "hand"}`, testsText(tests), usageText(usage)].filter(Boolean).join(" · ");
}

function testsText(tests) {
  if (!tests) return "";
  return tests.passed === tests.total
    ? `${plural(tests.total, "test")} passed`
    : `${tests.passed} of ${plural(tests.total, "test")} passed`;
}

// The two versions to compare: those that were chosen as far as they exist, else the newest with the one before it.
// Null where there are no two. `versions` has the newest first.
export function compared(versions, { from, to }) {
  if (versions.length < 2) return null;
  const numbers = versions.map((v) => v.version);
  const after = numbers.includes(to) ? to : numbers[0];
  const before = numbers.includes(from)
    ? from
    : (numbers.find((n) => n < after) ?? numbers.find((n) => n !== after));
  return { from: before, to: after };
}

// By which a version's sources are kept; they never change.
export const versionKey = (name, number) => `${name} ${number}`;
