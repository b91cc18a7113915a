// The result of the search: the tool with the confidence that it fits, or why none does, and what came near.

import { useContext, useState } from "preact/hooks";
import { likelyFirst } from "../../feed.js";
import { percent } from "../../format.js";
import { candidatesOf } from "../../outcome.js";
import { html, openTool, t } from "../../view.js";
import { Found } from "../parts/disclosure.js";
import { More } from "../parts/controls.js";
import { Prose } from "../parts/prose.js";

export function SearchOutcome({ step }) {
  const { tool, confidence, reason, understood } = step;
  const others = candidatesOf(step).filter(({ name }) => name !== tool);
  return html`
    ${
      tool &&
      html`<div class="found">
        <${ToolName} name=${tool} />
        ${
          confidence != null &&
          html`<${Meter} confidence=${confidence} />
            <span class="found-share">${t("confidence", { share: percent(confidence) })}</span>`
        }
      </div>`
    }
    ${
      understood &&
      html`<p class="step-text" data-testid="understood">
        ${t("understood-as", { request: understood })}
      </p>`
    }
    ${reason && html`<p class="step-text"><${Prose} text=${reason} /></p>`}
    ${others.length > 0 && html`<${Others} found=${Boolean(tool)} others=${others} />`}
  `;
}

function Others({ found, others }) {
  const searched = useContext(Found);
  const [all, setAll] = useState(false);
  const { likely, rest } = likelyFirst(others);
  const shown = all || searched ? others : likely;
  return html`<p class="candidates-label">
      ${t(found ? "candidates-other" : "candidates-closest")}
    </p>
    ${
      shown.length > 0 &&
      html`<ul class="candidates" data-testid="candidates">
        ${shown.map((c) => html`<${Candidate} key=${c.name} ...${c} />`)}
      </ul>`
    }
    ${
      rest.length > 0 &&
      !searched &&
      html`<${More}
        data-testid="more-candidates"
        open=${all}
        label=${t("candidates-more", { count: rest.length })}
        toggle=${() => setAll(!all)}
      />`
    }`;
}

function Candidate({ name, confidence }) {
  return html`<li class="candidate">
    <${ToolName} name=${name} />${
      confidence != null &&
      html`<${Meter} confidence=${confidence} /><span class="candidate-share"
          >${percent(confidence)}</span
        >`
    }
  </li>`;
}

const Meter = ({ confidence }) =>
  html`<span class="meter" aria-hidden="true"
    ><span class="meter-fill" style=${{ width: `${100 * confidence}%` }}></span
  ></span>`;

function ToolName({ name }) {
  return html`<button class="tool-name" onClick=${() => openTool(name)}>${name}</button>`;
}
