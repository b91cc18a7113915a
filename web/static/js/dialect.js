// The Markdown of answers: GFM with formulas and footnotes. Formulas stay text here; enriching.js draws them.

import { Marked } from "marked";

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escape = (text) => text.replace(/[&<>"]/g, (c) => ESCAPES[c]);

const formula = (tex, kind) => `<code class="math ${kind}">${escape(tex.trim())}</code>`;

const blockMath = {
  name: "blockMath",
  level: "block",
  start: (source) => source.match(/\n {0,3}(?:\$\$|\\\[)/)?.index,
  tokenizer(source) {
    const [raw, dollars, brackets] =
      source.match(/^ {0,3}(?:\$\$(?!\$)([^]+?)\$\$|\\\[([^]+?)\\\])[ \t]*(?:\n+|$)/) ?? [];
    const tex = dollars ?? brackets;
    return tex?.trim() ? { type: "blockMath", raw, tex } : undefined;
  },
  renderer: ({ tex }) => `<p>${formula(tex, "display")}</p>\n`,
};

// As in Pandoc: a dollar sign that begins a formula touches what follows, one that ends it what comes
// before, and no digit follows it. So "$5 and $6" are prices.
const INLINE = [
  [/^\$\$(?!\$)((?:[^$\\\n]|\\.|\n(?!\s*\n))+?)\$\$/, "display"],
  [
    /^\$(?![\s$])((?:[^$\\\n]|\\.)*?[^\s$\\]|(?:[^$\\\n]|\\.)*?\\[^\s])\$(?![\p{L}\p{N}$])/u,
    "inline",
  ],
  [/^\\\(((?:(?!\n\s*\n)[^])+?)\\\)/, "inline"],
  [/^\\\[((?:(?!\n\s*\n)[^])+?)\\\]/, "display"],
];

const inlineMath = {
  name: "inlineMath",
  level: "inline",
  start: (source) => source.match(/\$|\\[([]/)?.index,
  tokenizer(source, tokens) {
    if (source[0] === "$" && /[\p{L}\p{N}$]$/u.test(tokens.at(-1)?.raw ?? "")) return undefined;
    for (const [pattern, kind] of INLINE) {
      const found = source.match(pattern);
      if (found?.[1].trim()) return { type: "inlineMath", raw: found[0], tex: found[1], kind };
    }
    return undefined;
  },
  renderer: ({ tex, kind }) => formula(tex, kind),
};

// Shown where it stands. Only labels that a note explains are references: `[^a-z]` is not.
const note = {
  name: "note",
  level: "block",
  start: (source) => source.match(/\n\[\^[^\]\s]+\]:/)?.index,
  tokenizer(source) {
    const found = source.match(
      /^\[\^([^\]\s]+)\]:[ \t]*([^\n]*(?:\n(?:(?: {2,}|\t)[^\n]+|(?=\n+ {4})))*)(?:\n+|$)/,
    );
    if (!found) return undefined;
    const text = found[2].replace(/\n(?: {1,4}|\t)/g, "\n");
    return {
      type: "note",
      raw: found[0],
      label: found[1],
      tokens: this.lexer.blockTokens(text, []),
    };
  },
  renderer({ label, tokens }) {
    const name = encodeURIComponent(label);
    const back = `<a href="#reference-${name}">${escape(label)}</a>`;
    return `<div class="note" id="note-${name}"><sup>${back}</sup><div>${this.parser.parse(tokens)}</div></div>\n`;
  },
};

const NOTES = /^\[\^([^\]\s]+)\]:/gm;
let labels = new Set();

const reference = {
  name: "reference",
  level: "inline",
  start: (source) => source.match(/\[\^/)?.index,
  tokenizer(source) {
    const [raw, label] = source.match(/^\[\^([^\]\s]+)\]/) ?? [];
    return labels.has(label) ? { type: "reference", raw, label } : undefined;
  },
  renderer({ label }) {
    const name = encodeURIComponent(label);
    return `<sup><a id="reference-${name}" href="#note-${name}">${escape(label)}</a></sup>`;
  },
};

export const dialect = new Marked({
  gfm: true,
  extensions: [blockMath, inlineMath, note, reference],
  renderer: {
    checkbox: ({ checked }) => `<span class="task">${checked ? "☑" : "☐"}</span> `,
  },
});

export const lexer = (text) => dialect.lexer(text);

export function parse(text) {
  labels = new Set(Array.from(text.matchAll(NOTES), ([, label]) => label));
  return dialect.parse(text);
}
