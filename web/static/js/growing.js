// A Markdown text that grows: the blocks that can't change any more, and the rest.

import { lexer } from "./dialect.js";

export const NOTHING = { settled: "", blocks: [], rest: "" };
// A block may still join the ones before: after "1. a", "2" is a paragraph, and "2. b" an item of the list.
const UNSURE = 3;
// Of these, later blocks depend: what markup leaves open, and what links are named.
const REACHING = new Set(["html", "def"]);

// `before` is what this gave for the text so far. Each block is {markdown}; those that stay are the same objects.
export function grow(before, text) {
  const known = text.startsWith(before.settled) ? before : NOTHING;
  const rest = text.slice(known.settled.length);
  const tokens = lexer(rest);
  const reaching = tokens.findIndex(({ type }) => REACHING.has(type));
  const sure = Math.min(tokens.length - UNSURE, reaching < 0 ? tokens.length : reaching);
  const added = tokens
    .slice(0, Math.max(0, sure))
    .map(({ raw }) => raw)
    .join("");
  if (!added || !rest.startsWith(added)) return { ...known, rest }; // read otherwise than written
  return {
    settled: known.settled + added,
    blocks: [...known.blocks, { markdown: added }],
    rest: rest.slice(added.length),
  };
}
