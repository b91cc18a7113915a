// Searching the library's list: every word has to occur in name or description; names that match come first.

export function matching(tools, search) {
  const words = search
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean);
  const all = (text) => words.every((word) => text.includes(word));
  const found = tools.filter((t) => all(`${t.name} ${t.description}`.toLowerCase()));
  const named = (t) => (all(t.name.toLowerCase()) ? 0 : 1);
  return found.toSorted((a, b) => named(a) - named(b) || a.name.localeCompare(b.name));
}
