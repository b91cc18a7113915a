// A running turn's spending, once it is half of a limit: a bar for the nearest one, and words.

import { budgetOf } from "../../format.js";
import { html, memo, t } from "../../view.js";

const NEARLY = 0.8;

export const BudgetMeter = memo(({ budget }) => {
  const { words, share } = budgetOf(budget);
  return (
    words &&
    html`<p class="budget" data-testid="budget" data-tone=${share >= NEARLY ? "warn" : null}>
      <span class="meter" aria-hidden="true"
        ><span class="meter-fill" style=${{ width: `${100 * share}%` }}></span
      ></span>
      <span><span class="visually-hidden">${t("budget-spent")} </span>${words}</span>
    </p>`
  );
});
