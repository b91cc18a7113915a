// Versions and standing of a tool, in words, and the pair that the page compares.

import { plural, usageText } from "./format.js";

const STANDINGS = {
  provisional: "New. Becomes trusted after a few different successful uses.",
  trusted: "It has served several different calls.",
  retired: "Searches no longer offer it. You can restore it.",
};

export const standingTitle = (standing) => STANDINGS[standing] ?? "";

// Which tools the list shows: retired ones only on request.
export const offered = (tools, showRetired) =>
  showRetired ? tools : tools.filter((t) => t.standing !== "retired");

export const retiredCount = (tools) => tools.length - offered(tools, false).length;

export function versionFacts({ model, tests, usage }) {
  const author = model === "offline" ? "offline model" : `by ${model || "hand"}`;
  return [author, testsText(tests), usageText(usage)].filter(Boolean).join(" · ");
}

function testsText(tests) {
  if (!tests) return "";
  return tests.passed === tests.total
    ? `${plural(tests.total, "test")} passed`
    : `${tests.passed} of ${plural(tests.total, "test")} passed`;
}

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
