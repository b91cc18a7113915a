// The only way for text of models and tools to become markup: marked or highlight.js, then DOMPurify.

import DOMPurify from "dompurify";
import hljs from "@highlightjs/cdn-assets/es/core.min.js";
import json from "@highlightjs/cdn-assets/es/languages/json.min.js";
import python from "@highlightjs/cdn-assets/es/languages/python.min.js";
import { Marked, Renderer } from "marked";
import { useRef } from "preact/hooks";
import { canRender, isShallow } from "./bounds.js";
import { grow, NOTHING } from "./growing.js";
import { html } from "./html.js";
import { visible } from "./visible.js";

hljs.registerLanguage("json", json);
hljs.registerLanguage("python", python);

export const register = (name, language) => hljs.registerLanguage(name, language);

const LONGEST_CODE = 200_000;
const LONGEST_GROWING = 200_000;
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replace(/[&<>"]/g, (c) => ESCAPES[c]);

function highlighted(code, language) {
  return code.length <= LONGEST_CODE && hljs.getLanguage(language)
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : escape(code);
}

const plain = new Renderer();
const marked = new Marked({
  gfm: true,
  renderer: {
    // Below the request that it answers, whose heading has the second level.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    code({ text, lang = "" }) {
      return `<pre tabindex="0"><code>${highlighted(text, lang.split(/\s/, 1)[0])}</code></pre>`;
    },
    table(token) {
      plain.parser = this.parser;
      return `<div class="table-scroll" tabindex="0">${plain.table(token)}</div>`;
    },
  },
});

// Allow lists, because anything else may style, submit, embed or fetch: the page contacts no other host.
const RULES = {
  ALLOWED_TAGS: [
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "caption",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "var",
    "wbr",
  ],
  ALLOWED_ATTR: [
    "align",
    "class",
    "colspan",
    "dir",
    "href",
    "lang",
    "open",
    "reversed",
    "rowspan",
    "scope",
    "start",
    "tabindex",
    "title",
  ],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return node.removeAttribute?.("href");
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

const safe = (markup) => ({ __html: DOMPurify.sanitize(markup, RULES) });

// Null if the text is over the limits or the renderer failed on it: nothing that is shown may break the page.
function rendered(text) {
  try {
    const markup = canRender(text) ? marked.parse(text) : "";
    return isShallow(markup) && markup ? safe(markup) : null;
  } catch (error) {
    console.warn("shown as plain text:", error.message);
    return null;
  }
}

export const Markdown = ({ text }) => html`<${Rendered} text=${visible(text)} kind="markdown" />`;

// While a text is being written only its last blocks are rendered again.
export function GrowingMarkdown({ text }) {
  const grown = useRef(NOTHING);
  const shown = visible(text);
  if (!canRender(shown.slice(grown.current.settled.length)) || shown.length > LONGEST_GROWING)
    return html`<${Rendered} text=${shown} kind="markdown" />`;
  grown.current = grow(grown.current, shown);
  const { blocks, rest } = grown.current;
  return html`<div class="markdown">
    ${blocks.map(nodeOf)}
    <${Rendered} key="rest" text=${rest} kind="blocks" />
  </div>`;
}

// The same node each time, which preact then leaves as it is.
const nodeOf = (block, i) =>
  (block.node ??= html`<${Rendered} key=${i} text=${block.markdown} kind="blocks" />`);

// `text` is visible already.
function Rendered({ text, kind }) {
  const markup = text.trim() ? rendered(text) : { __html: "" };
  return markup
    ? html`<div class=${kind} dangerouslySetInnerHTML=${markup}></div>`
    : html`<div class=${kind}><pre class="plain" tabindex="0">${text}</pre></div>`;
}

// Foreign markup, such as a notebook's table.
export function Markup({ markup }) {
  const clean = canRender(markup) ? safe(visible(markup)) : null;
  return clean && isShallow(clean.__html)
    ? html`<div class="markdown" dangerouslySetInnerHTML=${clean}></div>`
    : html`<${Markdown} text=${markup} />`;
}

export function Highlighted({ code, language }) {
  return html`<code dangerouslySetInnerHTML=${safe(highlighted(visible(code), language))}></code>`;
}
