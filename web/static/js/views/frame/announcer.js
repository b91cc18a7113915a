// The live region: announces politely what happened, for screen readers.

import { html } from "../../html.js";
import { memo } from "../../memo.js";

// Two alternating regions, so that the same sentence twice is still a change.
export const Announcer = memo(({ announcement: { number, text } }) => {
  const shown = (parity) => (number % 2 === parity ? text : "");
  return html`<div class="visually-hidden" data-testid="announcer">
    <div role="status" aria-live="polite">${shown(0)}</div>
    <div role="status" aria-live="polite">${shown(1)}</div>
  </div>`;
});
