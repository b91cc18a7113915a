// What the search brought: the tool with the confidence that it fits, or why none does.

import { percent } from "../format.js";
import { html } from "../html.js";
import { dispatch } from "../store.js";

export function SearchOutcome({ step }) {
  const { tool, confidence, reason, considered = [] } = step;
  const others = considered.filter((name) => name !== tool);
  return html`
    ${tool && html`<div class="found">
      <${ToolName} name=${tool} />
      <span class="meter" role="img" aria-label=${`Confidence ${percent(confidence)}`}><span class="meter-fill" style=${{ width: percent(confidence) }}></span></span>
      <span class="found-share">${percent(confidence)} confidence</span>
    </div>`}
    ${reason && html`<p class="step-text">${reason}</p>`}
    ${others.length > 0 && html`<p class="considered"><span class="considered-label">${tool ? "Also considered" : "Considered"}</span>${others.map((name) => html`<${ToolName} key=${name} name=${name} />`)}</p>`}
  `;
}

function ToolName({ name }) {
  return html`<button type="button" class="tool-name" onClick=${() => dispatch({ type: "tool_opened", name })}>${name}</button>`;
}
