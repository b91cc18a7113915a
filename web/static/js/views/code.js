// A block of code: plain while it streams, highlighted once it is complete; long ones open on demand.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copy } from "../clipboard.js";
import { plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { Highlighted } from "../markdown.js";
import { memo } from "../memo.js";

const SHORT = 16;

export const CodeBlock = memo(({ code, language = "python", label, whole = false }) => {
  const [open, setOpen] = useState(false);
  const lines = code.trimEnd().split("\n").length;
  const folds = !whole && lines > SHORT;
  return html`<div class="code" data-folded=${folds && !open}>
    <${CopyButton} text=${code} label=${label} />
    <pre tabindex="0" aria-label=${label}><${Highlighted} code=${code.trimEnd()} language=${language} /></pre>
    ${folds && html`<button type="button" class="code-more" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${open ? "Show less" : `Show all ${plural(lines, "line")}`}</button>`}
  </div>`;
});

// Follows its end, unless the reader has scrolled up in it.
export function LiveCode({ code, label }) {
  const block = useRef(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current) block.current.scrollTop = block.current.scrollHeight;
  }, [code]);
  const moved = ({ target }) =>
    (follows.current = target.scrollHeight - target.clientHeight - target.scrollTop < 24);
  return html`<div class="code" data-live="true"><pre tabindex="0" aria-label=${label} ref=${block} onScroll=${moved}><code>${code}</code><span class="caret" aria-hidden="true"></span></pre></div>`;
}

// `text` may be a function that makes it.
export function CopyButton({ text, label }) {
  const [copied, setCopied] = useState(false);
  const press = async () => {
    await copy(typeof text === "function" ? text() : text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<button type="button" class="icon-button small copy" data-testid="copy" aria-label=${copied ? "Copied" : `Copy: ${label}`} onClick=${press}><${Icon} name=${copied ? "check" : "copy"} /></button>`;
}
