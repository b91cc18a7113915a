// A plan in the conversation: its steps with their states and results.

import { firstLine, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { StateIcon } from "../icons.js";
import { memo } from "../memo.js";
import { planOf } from "../plan.js";

export const Plan = memo(({ steps }) => {
  const plan = planOf(steps);
  return (
    plan &&
    html`<ol class="plan" data-testid="plan" aria-label="Steps of the plan">
      ${plan.parts.map((part) => html`<li key=${part.id} class="plan-part" data-testid="plan-part" data-part=${part.id} data-state=${part.state}><${Part} part=${part} /></li>`)}
    </ol>`
  );
});

export function Part({ part }) {
  const { id, request, needs, state, tool, text } = part;
  return html`
    <span class="plan-icon"><${StateIcon} state=${state} /><span class="visually-hidden">${STATE_WORDS[state]}: </span></span>
    <div>
      <p><span class="plan-id">${id}</span> ${request}</p>
      ${text && html`<p class="plan-result" data-testid="plan-result"><span class="arrow" aria-label="gives">→</span> <span>${firstLine(text)}</span></p>`}
      ${(tool || needs.length > 0) && html`<p class="plan-facts">${[tool, needs.length > 0 && `needs ${needs.join(", ")}`].filter(Boolean).join(" · ")}</p>`}
    </div>
  `;
}
