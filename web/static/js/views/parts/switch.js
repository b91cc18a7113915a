// Buttons of which one is pressed.

import { html, t } from "../../view.js";

export const Switch = ({ label, value, of, choose }) =>
  html`<span class="switch" role="group" aria-label=${label}
    >${of.map(
      (view) =>
        html`<button
          key=${view}
          data-testid=${`view-${view}`}
          aria-pressed=${view === value}
          onClick=${() => choose(view)}
        >
          ${t(`view-${view}`)}
        </button>`,
    )}</span
  >`;
