// The steps of a turn, or of one part of its plan, in the order in which they happened.

import { html } from "../html.js";
import { previous } from "../steps.js";
import { Step } from "./step.js";

// Only these also depend on other steps, and are drawn again when one of those changes.
const SEES_ALL = new Set(["verify", "turn_failed"]);

export function Steps({ of, skew }) {
  return html`<ol class="steps">
    ${of.steps.map((step) => html`<${Step} key=${`${of.id} ${step.key}`} step=${step} before=${previous(of.steps, step)} steps=${SEES_ALL.has(step.kind) ? of.steps : null} skew=${skew} />`)}
  </ol>`;
}
