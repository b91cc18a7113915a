// Steps that one sentence describes.

import { html } from "../html.js";
import { stepWords } from "../format.js";
import { Prose } from "./prose.js";

export function TextStep({ step }) {
  return step.text ? html`<p class="step-text"><${Prose} text=${step.text} /></p>` : null;
}

const THEN = {
  ask: "You are asked for what is missing.",
  synthesize: "A new tool is written instead.",
};

export function MismatchStep({ step }) {
  return html`<p class="step-text"><code>${step.tool}</code>: ${step.problem}</p>
    <p class="step-note">${THEN[step.then]}</p>`;
}

export function LessonsStep({ step }) {
  return html`<p class="step-text">Shown for ${stepWords(step.agent).toLowerCase()}:</p>
    <ul class="hints" data-testid="hints">${step.lessons.map(({ id, trigger, advice }) => html`<li key=${id}><span class="hint-trigger">${trigger}:</span> ${advice}</li>`)}</ul>`;
}

// The failed step's own message is not repeated.
export function FailureStep({ step, steps }) {
  const said = steps.some((s) => s !== step && s.state === "failed" && s.text === step.message);
  return html`<p class="step-text">At ${stepWords(step.where).toLowerCase()}${said ? ", see above." : html`: <${Prose} text=${step.message} />`}</p>
    ${step.reached && html`<p class="step-text">${step.reached}</p>`}
    ${step.remedy && html`<p class="step-note"><strong>What to do:</strong> <${Prose} text=${step.remedy} /></p>`}`;
}

export function StoppedStep({ step }) {
  return html`<p class="step-text">${step.reason}</p>`;
}
