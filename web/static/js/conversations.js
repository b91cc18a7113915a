// The list of conversations as a person reads it: by day and month, or what a search found; and the address of one.

import { locale, t } from "./texts.js";

const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });

const titles = {
  pinned: () => t("conversations-pinned"),
  today: () => t("conversations-today"),
  yesterday: () => t("conversations-yesterday"),
  week: () => t("conversations-week"),
  month: () => t("conversations-month"),
};

// Groups of conversations with an id and a title each; the days are those of this machine's clock.
export function grouped(conversations, now) {
  const today = new Date(now);
  const midnight = (days) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - days).getTime();
  const recent = [
    ["today", midnight(0)],
    ["yesterday", midnight(1)],
    ["week", midnight(7)],
    ["month", midnight(30)],
  ];
  const groups = new Map(Object.keys(titles).map((id) => [id, []]));
  for (const conversation of conversations) {
    const at = Date.parse(conversation.active_at);
    const [id] = conversation.pinned
      ? ["pinned"]
      : (recent.find(([, since]) => at >= since) ?? [monthOf(at)]);
    if (!groups.has(id)) groups.set(id, []);
    groups.get(id).push(conversation);
  }
  return [...groups]
    .filter(([, members]) => members.length > 0)
    .map(([id, members]) => ({
      id,
      title: titles[id]?.() ?? month.format(Date.parse(members[0].active_at)),
      conversations: members,
    }));
}

function monthOf(at) {
  const date = new Date(at);
  return `${date.getFullYear()}-${date.getMonth() + 1}`;
}

// The matches of a search, in the order of the list, or all conversations of the list.
export function listed(conversations, { text, found }, now) {
  if (!text.trim() || !found) return grouped(conversations, now);
  const all = conversations
    .filter(({ id }) => Object.hasOwn(found, id))
    .map((one) => ({ ...one, snippet: found[one.id], query: text }));
  return all.length ? [{ id: "found", title: t("conversations-found"), conversations: all }] : [];
}

// A text in parts, of which every second one is a word of the query.
export function partsBy(text, query) {
  const words = query.split(/\s+/).filter(Boolean);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return words.length > 0 ? text.split(new RegExp(`(${escaped.join("|")})`, "iu")) : [text];
}

// Where the records, files and values of a conversation are; a shared one is known by the path of its link.
export const conversationPath = (id) =>
  id.startsWith("share/") ? `/${id}` : `/api/v1/conversations/${encodeURIComponent(id)}`;
