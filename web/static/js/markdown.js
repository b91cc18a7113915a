// The only way for text of models and tools to become markup: marked or highlight.js, then DOMPurify.

import DOMPurify from "dompurify";
import hljs from "@highlightjs/cdn-assets/es/core.min.js";
import json from "@highlightjs/cdn-assets/es/languages/json.min.js";
import python from "@highlightjs/cdn-assets/es/languages/python.min.js";
import { Renderer } from "marked";
import { useLayoutEffect, useRef } from "preact/hooks";
import { canRender, FENCED, isShallow } from "./bounds.js";
import { dialect, escape, parse } from "./dialect.js";
import { enrich } from "./enriching.js";
import { grow, NOTHING } from "./growing.js";
import { html } from "./html.js";
import { visible } from "./visible.js";

hljs.registerLanguage("json", json);
hljs.registerLanguage("python", python);

export const register = (name, language) => hljs.registerLanguage(name, language);
export const knows = (name) => Boolean(hljs.getLanguage(name));

const LONGEST_CODE = 200_000;
const LONGEST_GROWING = 200_000;

function highlighted(code, language) {
  return code.length <= LONGEST_CODE && hljs.getLanguage(language)
    ? hljs.highlight(code, { language, ignoreIllegals: true }).value
    : escape(code);
}

const FIRST_HEADING = /^ {0,3}(#{1,6})[ \t]/m;
// The depth of the first heading of a text, which is drawn as one of the third level; 0 if it has none.
const topOf = (text) => text.replace(FENCED, "").match(FIRST_HEADING)?.[1].length ?? 0;
let top = 1; // of the text that is being rendered

const plain = new Renderer();
dialect.use({
  renderer: {
    // Below the request that it answers, whose heading has the second level.
    heading({ tokens, depth }) {
      const level = Math.min(3 + Math.max(0, depth - (top || 1)), 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    code({ text, lang = "" }) {
      const language = lang.split(/[\s,{]/, 1)[0];
      const head = language && `<div class="answer-code-name">${escape(language)}</div>`;
      const name = language && ` class="language-${escape(language.toLowerCase())}"`;
      const code = highlighted(text, language.toLowerCase());
      return `<div class="answer-code">${head}<pre tabindex="0"><code${name}>${code}</code></pre></div>`;
    },
    table(token) {
      plain.parser = this.parser;
      return `<div class="table-scroll" tabindex="0">${plain.table(token)}</div>`;
    },
  },
});

// Allow lists, because anything else may style, submit, embed or fetch: the page contacts no other host.
const TAGS = (
  "a abbr b blockquote br caption code col colgroup dd del details dfn div dl dt em h1 " +
  "h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span " +
  "strong sub summary sup table tbody td tfoot th thead tr u ul var wbr"
).split(" ");
const ATTRIBUTES = (
  "align alt class colspan dir href id lang open reversed rowspan scope src start " +
  "tabindex title"
).split(" ");

const RULES = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
};

const OWN_PICTURE =
  /^(?:\/(?:api\/v1\/conversations|share)\/[\w/-]+\/files\/|data:image\/(?:png|jpeg|gif|webp);)/;
const ID = /^(?:note|reference)-/;
// The pictures of the text that is being sanitised: name → address.
let pictures = {};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (!ID.test(node.id)) node.removeAttribute?.("id");
  if (node.tagName === "IMG") return showPicture(node);
  node.removeAttribute?.("src");
  if (node.tagName !== "A") return node.removeAttribute?.("href");
  if (node.getAttribute("href")?.startsWith("#")) return undefined;
  return leadsAway(node);
});

function leadsAway(link) {
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
}

// Files of this server; of other pictures the alternative text, as a link: the page contacts no other host.
function showPicture(node) {
  const source = node.getAttribute("src") ?? "";
  const name = source.split("/").at(-1);
  const own = Object.hasOwn(pictures, name) ? pictures[name] : OWN_PICTURE.test(source) && source;
  if (own) return node.setAttribute("src", own);
  const link = document.createElement(/^https?:/.test(source) ? "a" : "span");
  link.textContent = node.getAttribute("alt") || source;
  if (link.tagName === "A") link.setAttribute("href", source);
  leadsAway(link);
  return node.replaceWith(link);
}

const safe = (markup) => ({ __html: DOMPurify.sanitize(markup, RULES) });

// Null if the text is over the limits or the renderer failed on it: nothing that is shown may break the page.
function rendered(text, files = {}, first = topOf(text)) {
  try {
    [pictures, top] = [files, first];
    const markup = canRender(text) ? parse(text) : "";
    return isShallow(markup) && markup ? safe(markup) : null;
  } catch (error) {
    console.warn("shown as plain text:", error.message);
    return null;
  }
}

// `pictures`: files of this server that the text may name, name → address.
export const Markdown = ({ text, pictures: files }) =>
  html`<${Rendered} text=${visible(text)} kind="markdown" files=${files} />`;

// While a text is being written only its last blocks are rendered again. When some of them settle they keep the
// element, so that nothing moves.
export function GrowingMarkdown({ text }) {
  const [grown, first] = [useRef(NOTHING), useRef(0)];
  const shown = visible(text);
  if (!canRender(shown.slice(grown.current.settled.length)) || shown.length > LONGEST_GROWING)
    return html`<${Rendered} text=${shown} kind="markdown" grows />`;
  first.current ||= topOf(shown);
  grown.current = grow(grown.current, shown);
  const { blocks, rest } = grown.current;
  return html`<div class="markdown">
    ${blocks.map((block, i) => nodeOf(block, i, first.current))}
    <${Rendered} key=${blocks.length} text=${rest} kind="blocks" first=${first.current} grows />
  </div>`;
}

// The same node each time, which preact then leaves as it is.
const nodeOf = (block, i, first) =>
  (block.node ??= html`<${Rendered}
    key=${i}
    text=${block.markdown}
    kind="blocks"
    first=${first}
    grows
  />`);

const coloured = (code, language) => safe(highlighted(code, language)).__html;

// `text` is visible already.
function Rendered({ text, kind, files, first, grows = false }) {
  const drawn = useRef(null);
  const markup = text.trim() ? rendered(text, files, first) : { __html: "" };
  useLayoutEffect(() => {
    if (markup) enrich(drawn.current, { highlight: coloured, knows }, !grows);
  }, [markup?.__html]);
  return markup
    ? html`<div
        class=${kind}
        dir="auto"
        ref=${drawn}
        onClick=${followNote}
        dangerouslySetInnerHTML=${markup}
      ></div>`
    : html`<div class=${kind}><pre class="plain" tabindex="0">${text}</pre></div>`;
}

// Within this text: another one may have a note with the same label.
function followNote(event) {
  const id = event.target.closest?.("a[href^='#']")?.getAttribute("href").slice(1);
  if (id === undefined) return;
  event.preventDefault(); // the address names the conversation
  event.currentTarget
    .querySelector(`[id="${CSS.escape(id)}"]`)
    ?.scrollIntoView({ block: "center" });
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
