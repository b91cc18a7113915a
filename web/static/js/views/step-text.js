// Steps that are told in a sentence.

import { html } from "../html.js";
import { stepWords } from "../format.js";

export function TextStep({ step }) {
  return step.text ? html`<p class="step-text">${step.text}</p>` : null;
}

const THEN = { ask: "You are asked for what is missing.", synthesize: "A new tool is written instead." };

export function MismatchStep({ step }) {
  return html`<p class="step-text"><code>${step.tool}</code>: ${step.problem}</p>
    <p class="step-note">${THEN[step.then]}</p>`;
}

export function FailureStep({ step }) {
  return html`<p class="step-text">At ${stepWords(step.where).toLowerCase()}: ${step.message}</p>
    ${step.remedy && html`<p class="step-note"><strong>What to do:</strong> ${step.remedy}</p>`}`;
}

export function StoppedStep({ step }) {
  return html`<p class="step-text">${step.reason}</p>`;
}
