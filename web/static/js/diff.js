// A line diff by longest common subsequence: what a repair changed. Short sources only, so quadratic is fine.

export function diffLines(before, after) {
  const a = before.trimEnd().split("\n");
  const b = after.trimEnd().split("\n");
  const common = table(a, b);
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ change: "same", text: a[i] });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      lines.push({ change: "removed", text: a[i] });
      i += 1;
    } else {
      lines.push({ change: "added", text: b[j] });
      j += 1;
    }
  }
  return lines;
}

function table(a, b) {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      rows[i][j] =
        a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
    }
  }
  return rows;
}

// Unchanged stretches further than `context` lines from a change become one {change: "skipped", count}.
export function folded(lines, context = 2) {
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some((l) => l.change !== "same"),
  );
  const shown = [];
  lines.forEach((line, i) => {
    if (near[i]) shown.push(line);
    else if (shown.at(-1)?.change === "skipped") shown.at(-1).count += 1;
    else shown.push({ change: "skipped", count: 1 });
  });
  return shown;
}
