// The command palette: what it offers, and what of that a query finds.

import { t } from "./texts.js";

const MOST_RECENT = 6; // entries that are remembered
const MOST_OF_KIND = 8; // of one kind that a query shows
const LONGEST = 200; // characters of a title that are looked at
const KINDS = ["conversation", "action", "tool", "project", "lesson"];

// Without a query only the first few of what there may be many of.
const UNASKED = { action: Infinity, conversation: 5, tool: 5, project: 5, lesson: 0 };

const ACTIONS = [
  { id: "begin", icon: "plus", keys: "begin" },
  { id: "temporary", icon: "clock" },
  { id: "project", icon: "folder" },
  { id: "attach", icon: "paperclip" },
  { id: "stop", icon: "square", keys: "stop", when: ({ running }) => running },
  { id: "share", icon: "share", when: ({ open }) => open },
  { id: "export-md", icon: "download", when: ({ open }) => open },
  { id: "export-json", icon: "download", when: ({ open }) => open },
  { id: "activity", icon: "activity" },
  { id: "library", icon: "book" },
  { id: "lessons", icon: "lamp" },
  { id: "panel", icon: "panelShow", keys: "panel" },
  { id: "wide", icon: "open" },
  { id: "wrap", icon: "wrap" },
  { id: "settings", icon: "settings" },
  { id: "browser", icon: "settings" },
  { id: "list", icon: "checks", keys: "list" },
];

function entry(kind, key, title, { detail = "", ...more }) {
  const shown = String(title).slice(0, LONGEST);
  const folded = fold(shown);
  const about = fold(String(detail).slice(0, LONGEST)).text;
  return { id: `${kind} ${key}`, kind, key, title: shown, folded, detail, about, ...more };
}

// All that the palette can find; whether something is `running` decides which actions make sense.
export function entriesOf({ conversations, conversationId, tools, projects, lessons }, running) {
  const where = { running, open: conversations.some(({ id }) => id === conversationId) };
  return [
    ...ACTIONS.filter(({ when }) => !when || when(where)).map(({ id, icon, keys }) =>
      entry("action", id, t(`palette-${id}`), { icon, keys }),
    ),
    ...conversations.map(({ id, title, active_at: at, has_files: files }) =>
      entry("conversation", id, title || t("palette-untitled"), { icon: "message", at, files }),
    ),
    ...(tools ?? [])
      .filter(({ standing }) => standing !== "retired")
      .toSorted((a, b) => b.uses - a.uses)
      .map(({ name, description, last_used: used, created_at: at }) =>
        entry("tool", name, name, { icon: "tool", detail: description, at: used ?? at }),
      ),
    ...(projects ?? []).map(({ id, name, goal, created_at: at }) =>
      entry("project", id, name, { icon: "folder", detail: goal, at, files: true }),
    ),
    ...(lessons ?? []).map(({ id, trigger, advice }) =>
      entry("lesson", id, trigger, { icon: "lamp", detail: advice }),
    ),
  ];
}

// The text without capitals and accents: its characters, and where each of them stood.
function fold(text) {
  if (!/[^\x20-\x7e]/.test(text)) return { text: text.toLowerCase(), at: null }; // all where they were
  const signs = [];
  const at = [];
  for (let i = 0; i < text.length; i += 1) {
    const plain = text[i].normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace("ß", "ss");
    for (const sign of plain) {
      signs.push(sign);
      at.push(i);
    }
  }
  return { text: signs.join(""), at };
}

const startsWord = (text, i) => i === 0 || !/[\p{L}\p{N}]/u.test(text[i - 1]);

// The best place of a word in a text, {score, places}: its start, the start of a word, within a
// word, or its letters in order and close together.
function place(text, word) {
  let best = null;
  const take = (score, places) => {
    if (!best || score > best.score) best = { score, places };
  };
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) {
    const places = Array.from(word, (_, k) => i + k);
    take(i === 0 ? 100 : startsWord(text, i) ? 80 : 60, places);
  }
  if (best || word.length < 3) return best;
  for (let i = text.indexOf(word[0]); i >= 0; i = text.indexOf(word[0], i + 1)) {
    if (!startsWord(text, i)) continue;
    const places = [i];
    for (const sign of word.slice(1)) {
      const next = text.indexOf(sign, places.at(-1) + 1);
      if (next < 0) break;
      places.push(next);
    }
    const gaps = places.at(-1) - i + 1 - word.length;
    if (places.length === word.length && gaps <= word.length + 2) take(40 - 2 * gaps, places);
  }
  return best;
}

// {score, places} of all words in an entry; null if one of them is not there. The detail counts
// less, and only as it is written.
function rank({ folded, about }, words) {
  let score = 0;
  const places = new Set();
  for (const word of words) {
    const found = place(folded.text, word);
    if (found) for (const i of found.places) places.add(folded.at?.[i] ?? i);
    else if (!about.includes(word)) return null;
    score += found?.score ?? 20;
  }
  const share = words.join("").length / Math.max(1, folded.text.length);
  return { score: score / words.length + 20 * share, places };
}

const DAY = 86_400_000;
export const NO_FILTER = { kind: "", days: 0, files: false };

// The entries that a filter leaves: of a kind, of the last days, with files.
export const filtered = (entries, { kind, days, files }, now = Date.now()) =>
  entries.filter(
    (one) =>
      (!kind || one.kind === kind) &&
      (!days || now - Date.parse(one.at) < days * DAY) &&
      (!files || one.files),
  );

// Groups of entries in the order in which they are shown: [{kind, entries}]; each entry has the
// `places` in its title that the query found. `recent`: ids, newest first. `hits`: the lines that the
// server's search found in conversations, by their ids.
export function found(entries, query, recent, hits = {}) {
  const words = fold(query)
    .text.split(/[\s_]+/)
    .filter(Boolean);
  if (words.length === 0) return unasked(entries, recent);
  const ranked = entries
    .map((one) => ({ ...one, ...(rank(one, words) ?? inside(one, hits)) }))
    .filter(({ places }) => places)
    .map((one) => ({ ...one, score: one.score + bonus(recent.indexOf(one.id)) }))
    .toSorted((a, b) => b.score - a.score);
  const kinds = [...new Set(ranked.map(({ kind }) => kind))];
  return kinds.map((kind) => ({
    kind,
    entries: ranked.filter((one) => one.kind === kind).slice(0, MOST_OF_KIND),
  }));
}

const inside = ({ kind, key }, hits) =>
  kind === "conversation" && key in hits && { score: 20, places: new Set(), detail: hits[key] };

const bonus = (index) => (index < 0 ? 0 : 15 - index);

function unasked(entries, recent) {
  const known = new Map(entries.map((one) => [one.id, one]));
  const last = recent.map((id) => known.get(id)).filter(Boolean);
  const groups = KINDS.map((kind) => ({
    kind,
    entries: entries
      .filter((one) => one.kind === kind && !last.includes(one))
      .slice(0, UNASKED[kind]),
  }));
  return [{ kind: "recent", entries: last }, ...groups].filter((group) => group.entries.length > 0);
}

// The ids that were chosen last, after one more choice.
export const withChoice = (recent, id) =>
  [id, ...recent.filter((one) => one !== id)].slice(0, MOST_RECENT);

// A title in pieces, {text, hit} each, for the places that a query found.
export function pieces(title, places = new Set()) {
  const parts = [];
  for (let i = 0; i < title.length; i += 1) {
    const hit = places.has(i);
    if (parts.at(-1)?.hit === hit) parts.at(-1).text += title[i];
    else parts.push({ hit, text: title[i] });
  }
  return parts;
}
