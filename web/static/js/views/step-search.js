// The result of the search: the tool with the confidence that it fits, or why none does, and other close matches.

import { percent } from "../format.js";
import { html } from "../html.js";
import { dispatch } from "../store.js";

export function SearchOutcome({ step }) {
  const { tool, confidence, reason, understood, considered = [], confidences = [] } = step;
  const candidates = considered.map((name, rank) => ({ name, confidence: confidences[rank] }));
  const others = candidates.filter(({ name }) => name !== tool);
  return html`
    ${
      tool &&
      html`<div class="found">
      <${ToolName} name=${tool} />
      <span class="meter" role="img" aria-label=${`Confidence ${percent(confidence)}`}><span class="meter-fill" style=${{ width: percent(confidence) }}></span></span>
      <span class="found-share">${percent(confidence)} confidence</span>
    </div>`
    }
    ${understood && html`<p class="step-text" data-testid="understood">Understood as: ${understood}</p>`}
    ${reason && html`<p class="step-text">${reason}</p>`}
    ${
      others.length > 0 &&
      html`<p class="candidates-label">${tool ? "Other close matches" : "Closest matches"}</p>
      <ul class="candidates" data-testid="candidates">${others.map((c) => html`<${Candidate} key=${c.name} ...${c} />`)}</ul>`
    }
  `;
}

// Records of older versions have no confidence.
function Candidate({ name, confidence }) {
  return html`<li class="candidate"><${ToolName} name=${name} />${
    confidence != null &&
    html`
    <span class="meter"><span class="meter-fill" style=${{ width: percent(confidence) }}></span></span>
    <span class="candidate-share">${percent(confidence)}</span>`
  }</li>`;
}

function ToolName({ name }) {
  return html`<button type="button" class="tool-name" onClick=${() => dispatch({ type: "tool_opened", name })}>${name}</button>`;
}
