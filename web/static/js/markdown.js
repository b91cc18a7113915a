// The only way for text of models and tools to become markup: marked or highlight.js, then DOMPurify.

import DOMPurify from "dompurify";
import hljs from "@highlightjs/cdn-assets/es/core.min.js";
import json from "@highlightjs/cdn-assets/es/languages/json.min.js";
import python from "@highlightjs/cdn-assets/es/languages/python.min.js";
import { Marked, Renderer } from "marked";
import { html } from "./html.js";
import { visible } from "./visible.js";

hljs.registerLanguage("json", json);
hljs.registerLanguage("python", python);

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replace(/[&<>"]/g, (c) => ESCAPES[c]);

function highlighted(code, language) {
  return hljs.getLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escape(code);
}

const plain = new Renderer();
const marked = new Marked({
  gfm: true,
  renderer: {
    code({ text, lang = "" }) {
      return `<pre tabindex="0"><code>${highlighted(text, lang.split(/\s/, 1)[0])}</code></pre>`;
    },
    table(token) {
      plain.parser = this.parser;
      return `<div class="table-scroll" tabindex="0">${plain.table(token)}</div>`;
    },
  },
});

// Nothing that styles, submits, embeds or fetches: the page asks no other host for anything.
const RULES = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "img", "picture", "video", "audio", "source", "dialog"],
  FORBID_ATTR: ["style", "id", "name", "popover", "popovertarget", "data-testid"],
  ALLOW_DATA_ATTR: false,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

const safe = (markup) => ({ __html: DOMPurify.sanitize(markup, RULES) });

export function Markdown({ text }) {
  return html`<div class="markdown" dangerouslySetInnerHTML=${safe(marked.parse(visible(text)))}></div>`;
}

export function Highlighted({ code, language }) {
  return html`<code dangerouslySetInnerHTML=${safe(highlighted(visible(code), language))}></code>`;
}
