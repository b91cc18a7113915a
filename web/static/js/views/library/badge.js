// The standing of a tool in a word.

import { standingTitle, standingWords } from "../../versions.js";
import { html } from "../../view.js";

export function Badge({ standing }) {
  return html`<span
    class="badge"
    data-testid="badge"
    data-standing=${standing}
    title=${standingTitle(standing)}
    >${standingWords(standing)}</span
  >`;
}
