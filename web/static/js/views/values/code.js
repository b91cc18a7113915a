// A block of code: plain while it streams, highlighted once it is complete; long ones open on demand.

import { useContext, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { copy } from "../../clipboard.js";
import { Highlighted } from "../../markdown.js";
import { wraps } from "../../room.js";
import { html, memo, t } from "../../view.js";
import { Found } from "../parts/disclosure.js";
import { IconButton, More } from "../parts/controls.js";

const SHORT = 16;
const LONG = 48; // characters of a line that may need more than one in the panel

export const CodeBlock = memo(({ code, language = "python", label, whole = false }) => {
  const [open, setOpen] = useState(false);
  const found = useContext(Found);
  const lines = useMemo(() => code.trimEnd().split("\n"), [code]);
  const folds = !whole && !found && lines.length > SHORT;
  return html`<div class="code" data-folded=${folds && !open}>
    ${lines.some((line) => line.length > LONG) && html`<${WrapButton} />`}
    <${CopyButton} text=${code} label=${label} />
    <pre
      tabindex="0"
      aria-label=${label}
    ><${Highlighted} code=${code.trimEnd()} language=${language} /></pre>
    ${
      folds &&
      html`<${More}
        open=${open}
        label=${t("code-all", { count: lines.length })}
        toggle=${() => setOpen(!open)}
      />`
    }
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
  return html`<div class="code" data-live="true">
    <pre
      tabindex="0"
      aria-label=${label}
      ref=${block}
      onScroll=${moved}
    ><code>${code}</code><span class="caret" aria-hidden="true"></span></pre>
  </div>`;
}

// The output or the error of a program, unchanged.
export const Output = ({ text, label, class: kind = "output", ...more }) =>
  html`<pre class=${kind} tabindex="0" aria-label=${label} ...${more}>${text}</pre>`;

// One switch for all code, which the browser remembers.
function WrapButton() {
  return html`<${IconButton}
    icon="wrap"
    label=${t("code-wrap")}
    class="copy wrap"
    data-testid="wrap"
    aria-pressed=${wraps.value}
    onClick=${() => (wraps.value = !wraps.value)}
  />`;
}

// `text` may be a function that makes it.
export function CopyButton({ text, label }) {
  const [copied, setCopied] = useState(false);
  const press = async () => {
    await copy(typeof text === "function" ? text() : text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<${IconButton}
    icon=${copied ? "check" : "copy"}
    label=${copied ? t("share-copied") : t("code-copy", { what: label })}
    class="copy"
    data-testid="copy"
    onClick=${press}
  />`;
}
