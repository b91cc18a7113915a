// Steps of agents: a message with everything that it caused, and a run of their code.

import { Markdown } from "../../markdown.js";
import { html, t } from "../../view.js";
import { CodeBlock, Output } from "../values/code.js";
import { Broken } from "./step-execution.js";
import { Steps } from "./steps.js";

export function DelegationStep({ step, path, view, skew }) {
  const { message, reply, steps } = step;
  return html`<div class="step-text"><${Markdown} text=${message} /></div>
    ${
      steps.length > 0 &&
      html`<div class="plan-detail">
        <${Steps} of=${step} view=${view} above=${`${path}/`} skew=${skew} />
      </div>`
    }
    ${
      reply &&
      html`<div class="step-text" data-testid="reply">
        <span class="call-label">${t("agent-reply")}</span> <${Markdown} text=${reply} />
      </div>`
    }`;
}

export function CodeRunStep({ step }) {
  const { code, execution } = step;
  return html`${code && html`<${CodeBlock} code=${code} label=${t("step-code_run")} />`}
  ${
    execution?.stdout &&
    html`<${Output} data-testid="printed" label=${t("act-printed")} text=${execution.stdout} />`
  }
  ${
    execution &&
    execution.outcome !== "returned" &&
    html`<${Broken} execution=${execution} testid="code-error" />`
  }`;
}
