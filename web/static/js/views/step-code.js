// Steps that write code: the suite, and the implementation with what a repair changed.

import { useState } from "preact/hooks";
import { diffLines, folded } from "../diff.js";
import { plural } from "../format.js";
import { html } from "../html.js";
import { memo } from "../memo.js";
import { unfenced } from "../specification.js";
import { CodeBlock, LiveCode } from "./code.js";

export function CodeStep({ step }) {
  return html`${step.text && html`<p class="step-text">${step.text}</p>`}<${Source} step=${step} />`;
}

function Source({ step }) {
  const label = step.kind === "tests" ? "Test suite" : "Implementation";
  if (step.artifact) return html`<${CodeBlock} code=${step.artifact} label=${label} />`;
  if (!step.stream) return null;
  const code = unfenced(step.stream);
  return step.state === "running" ? html`<${LiveCode} code=${code} label=${label} />` : html`<${CodeBlock} code=${code} label=${label} />`;
}

export function ImplementationStep({ step, before }) {
  const [whole, setWhole] = useState(false);
  const repaired = Boolean(before?.artifact && step.artifact);
  if (!repaired) return html`<${CodeStep} step=${step} />`;
  return html`${step.text && html`<p class="step-text">${step.text}</p>`}
    <div class="switch" role="group" aria-label="Show">
      <button type="button" aria-pressed=${whole ? "false" : "true"} onClick=${() => setWhole(false)}>Changes</button>
      <button type="button" aria-pressed=${whole ? "true" : "false"} onClick=${() => setWhole(true)}>Whole code</button>
    </div>
    ${whole ? html`<${Source} step=${step} />` : html`<${Changes} before=${before.artifact} after=${step.artifact} />`}`;
}

const SIGNS = { same: " ", added: "+", removed: "−" };

const Changes = memo(({ before, after }) => {
  const lines = folded(diffLines(before, after));
  if (lines.every((line) => line.change === "skipped")) return html`<p class="step-note">Nothing changed.</p>`;
  return html`<div class="code"><pre tabindex="0" aria-label="Changes to the previous attempt"><code class="diff">${lines.map(diffLine)}</code></pre></div>`;
});

function diffLine({ change, text, count }, index) {
  if (change === "skipped") return html`<span key=${index} class="diff-line" data-change="skipped">${plural(count, "unchanged line")}${"\n"}</span>`;
  return html`<span key=${index} class="diff-line" data-change=${change}><span class="diff-sign">${SIGNS[change]}</span>${text}${"\n"}</span>`;
}
