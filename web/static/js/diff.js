// The changes between two sources, as lines to show.

import { diffLines as partsOf } from "diff";

const PATIENCE = 500; // milliseconds; of sources that differ more, all lines are shown as changed

// {change, text} each, where change is "same", "removed" or "added".
export function diffLines(before, after) {
  const [old, now] = [before, after].map((text) => `${text.trimEnd()}\n`);
  const parts = partsOf(old, now, { timeout: PATIENCE }) ?? [
    { removed: true, value: old },
    { added: true, value: now },
  ];
  return parts.flatMap(({ added, removed, value }) =>
    value
      .slice(0, -1)
      .split("\n")
      .map((text) => ({ change: added ? "added" : removed ? "removed" : "same", text })),
  );
}

// Unchanged stretches further than `context` lines from a change become one {change: "skipped", count}.
export function folded(lines, context = 2) {
  const near = new Set();
  lines.forEach((line, i) => {
    if (line.change !== "same") for (let n = i - context; n <= i + context; n += 1) near.add(n);
  });
  const shown = [];
  lines.forEach((line, i) => {
    if (near.has(i)) shown.push(line);
    else if (shown.at(-1)?.change === "skipped") shown.at(-1).count += 1;
    else shown.push({ change: "skipped", count: 1 });
  });
  return shown;
}
