// Steps that write code: the suite, and the implementation with what a repair changed.

import { useState } from "preact/hooks";
import { unfenced } from "../../specification.js";
import { html, t } from "../../view.js";
import { Changes } from "../values/changes.js";
import { CodeBlock, LiveCode } from "../values/code.js";
import { Switch } from "../parts/controls.js";

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
    <${Switch}
      label=${t("code-show")}
      value=${whole ? "whole" : "changes"}
      of=${["changes", "whole"]}
      choose=${(view) => setWhole(view === "whole")}
    />
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
