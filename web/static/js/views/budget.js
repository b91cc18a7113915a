// What a running turn has spent of its budget: a bar for the nearest limit, and all of them in words.

import { budgetOf } from "../format.js";
import { html } from "../html.js";
import { memo } from "../memo.js";

const NEARLY = 0.8;

export const BudgetMeter = memo(({ budget }) => {
  const { words, share } = budgetOf(budget);
  return html`<p class="budget" data-testid="budget" data-tone=${share >= NEARLY ? "warn" : null}>
    <span class="meter" aria-hidden="true"><span class="meter-fill" style=${{ width: `${100 * share}%` }}></span></span>
    <span><span class="visually-hidden">Spent so far: </span>${words}</span>
  </p>`;
});
