// A problem: what happened, and what to do about it.

import { html } from "../html.js";
import { Icon } from "../icons.js";

export function Problem({ title, message, remedy, tone = "bad", testid, children }) {
  return html`<div class="problem" data-tone=${tone} data-testid=${testid}>
    <${Icon} name=${tone === "bad" ? "alert" : "square"} />
    <div class="problem-main">
      <p class="problem-title">${title}</p>
      <p class="problem-message">${message}</p>
      ${remedy && html`<p class="problem-remedy"><strong>What to do:</strong> ${remedy}</p>`}
      ${children && html`<div class="problem-actions">${children}</div>`}
    </div>
  </div>`;
}
