// Steps that write code: the suite, and the implementation with what a repair changed.

import { useState } from "preact/hooks";
import { html } from "../../html.js";
import { unfenced } from "../../specification.js";
import { t } from "../../texts.js";
import { Changes } from "../values/changes.js";
import { CodeBlock, LiveCode } from "../values/code.js";

export function CodeStep({ step }) {
  return html`${step.text && html`<p class="step-text">${step.text}</p>`}<${Source}
      step=${step}
    />`;
}

function Source({ step }) {
  const label = t(step.kind === "test" ? "code-suite" : "step-implement");
  if (step.artifact) return html`<${CodeBlock} code=${step.artifact} label=${label} />`;
  if (!step.stream) return null;
  const code = unfenced(step.stream);
  return step.state === "running"
    ? html`<${LiveCode} code=${code} label=${label} />`
    : html`<${CodeBlock} code=${code} label=${label} />`;
}

export function ImplementationStep({ step, before }) {
  const [whole, setWhole] = useState(false);
  const repaired = Boolean(before?.artifact && step.artifact);
  if (!repaired) return html`<${CodeStep} step=${step} />`;
  return html`${step.text && html`<p class="step-text">${step.text}</p>`}
    <div class="switch" role="group" aria-label=${t("code-show")}>
      <button
        type="button"
        aria-pressed=${whole ? "false" : "true"}
        onClick=${() => setWhole(false)}
      >
        ${t("code-changes")}
      </button>
      <button
        type="button"
        aria-pressed=${whole ? "true" : "false"}
        onClick=${() => setWhole(true)}
      >
        ${t("code-whole")}
      </button>
    </div>
    ${
      whole
        ? html`<${Source} step=${step} />`
        : html`<${Changes}
            before=${before.artifact}
            after=${step.artifact}
            label=${t("code-changes-of")}
          />`
    }`;
}
