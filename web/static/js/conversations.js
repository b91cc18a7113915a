// The list of conversations as a person reads it: by day, or what a search found.

// Groups of conversations with a title each; the days are those of this machine's clock.
export function grouped(conversations, now) {
  const today = new Date(now);
  const midnight = (days) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - days).getTime();
  const days = [
    ["Today", midnight(0)],
    ["Yesterday", midnight(1)],
    ["Previous 7 days", midnight(7)],
    ["Older", -Infinity],
  ];
  const titleOf = ({ pinned, active_at: at }) =>
    pinned ? "Pinned" : days.find(([, since]) => Date.parse(at) >= since)[0];
  return ["Pinned", ...days.map(([title]) => title)]
    .map((title) => ({ title, conversations: conversations.filter((c) => titleOf(c) === title) }))
    .filter((group) => group.conversations.length > 0);
}

// What a search found, in the order of the list, or all that the list has.
export function listed(conversations, { text, found }, now) {
  if (!text.trim() || !found) return grouped(conversations, now);
  const ids = new Set(found);
  const all = conversations.filter(({ id }) => ids.has(id));
  return all.length ? [{ title: "Found", conversations: all }] : [];
}
