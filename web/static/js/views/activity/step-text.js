// Steps that one sentence describes.

import { stepWords } from "../../format.js";
import { Markdown } from "../../markdown.js";
import { html, rich, t } from "../../view.js";
import { Details } from "../parts/problem.js";
import { Prose } from "../parts/prose.js";

// A model's text may hold a block of code.
export const Said = ({ text }) =>
  text.includes("```")
    ? html`<div class="step-text"><${Markdown} text=${text} /></div>`
    : html`<p class="step-text"><${Prose} text=${text} /></p>`;

export const TextStep = ({ step }) => (step.text ? html`<${Said} text=${step.text} />` : null);

export function MismatchStep({ step: { tool, problem, then } }) {
  return html`<p class="step-text"><code>${tool}</code>: ${problem}</p>
    <p class="step-note">${t(`mismatch-${then}`)}</p>`;
}

export function LessonsStep({ step: { agent, lessons } }) {
  return html`<p class="step-text">${t("lessons-for", { stage: stepWords(agent) })}</p>
    <ul class="hints" data-testid="hints">
      ${lessons.map(
        ({ id, trigger, advice }) =>
          html`<li key=${id}><span class="hint-trigger">${trigger}:</span> ${advice}</li>`,
      )}
    </ul>`;
}

// The failed step's own message is not repeated.
export function FailureStep({ step, steps }) {
  const { where, message, details, remedy } = step.failure;
  const said = steps.some(
    (s) => s !== step && s.state === "failed" && details.startsWith(s.details || s.text),
  );
  const placed = where !== "internal";
  return html`${
    placed &&
    html`<p class="step-text">
      ${t(said ? "failed-at-above" : "failed-at", { step: stepWords(where) })}
    </p>`
  }
  ${message && html`<${Said} text=${message} />`}
  ${!said && details && html`<${Details} text=${details} />`}
  ${
    remedy &&
    html`<p class="step-note">
      ${rich("what-to-do", { remedy: html`<${Prose} text=${remedy} />` })}
    </p>`
  }`;
}

export function ResumedStep({ step }) {
  return html`<p class="step-text">${t(step.again ? "resumed-again" : "resumed-there")}</p>`;
}
