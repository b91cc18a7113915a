// The specification step: what the tool should do, readable; the raw JSON on demand.

import { Markdown } from "../../markdown.js";
import { parseSpecification, prettyJson, signatureText } from "../../specification.js";
import { html, t } from "../../view.js";
import { CodeBlock } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";
import { Said } from "./step-text.js";

export function SpecificationStep({ step }) {
  const spec = step.artifact ? parseSpecification(step.artifact) : null;
  if (spec)
    return html`<${Specification} spec=${spec} /><${Disclosure} label=${t("specification-json")}
        ><${CodeBlock}
          code=${prettyJson(step.artifact)}
          language="json"
          label=${t("specification-json")}
          whole
      /><//>`;
  return html`
    ${
      step.text &&
      (step.state === "failed"
        ? html`<${Said} text=${step.text} />`
        : html`<div class="step-text"><${Markdown} text=${step.text} /></div>`)
    }
    ${
      step.artifact &&
      html`<${CodeBlock} code=${step.artifact} language="json" label=${t("specification-json")} />`
    }
  `;
}

function Specification({ spec }) {
  const {
    description,
    parameters,
    returns,
    returns_description: meaning,
    errors,
    user_examples: yours = [],
    examples = [],
  } = spec;
  return html`<div class="specification">
    <${CodeBlock} code=${signatureText(spec)} label=${t("specification-signature")} whole />
    <p class="step-text">${description}</p>
    <dl class="facts">
      ${parameters.map(
        (p) =>
          html`<dt><code>${p.name}</code></dt>
            <dd>${p.description || p.annotation}</dd>`,
      )}
      ${
        meaning &&
        html`<dt>${t("specification-returns")}</dt>
          <dd>${meaning} <span class="muted">(${returns})</span></dd>`
      }
      ${
        errors &&
        html`<dt>${t("specification-errors")}</dt>
          <dd>${errors}</dd>`
      }
    </dl>
    ${
      yours.length > 0 &&
      html`<p class="step-text">${t("specification-yours")}</p>
        <${Examples} examples=${yours} label=${t("specification-yours")} />`
    }
    ${
      examples.length > 0 &&
      html`<${Examples} examples=${examples} label=${t("specification-examples")} />`
    }
  </div>`;
}

const Examples = ({ examples, label }) =>
  html`<ul class="spec-examples" aria-label=${label}>
    ${examples.map(
      (e) =>
        html`<li key=${e.call}>
          <code>${e.call}</code><span class="arrow" aria-label=${t("gives")}>→</span
          ><code>${e.result}</code>
        </li>`,
    )}
  </ul>`;
