// Time that passes while something runs.

import { useNow } from "../../clock.js";
import { elapsed } from "../../format.js";
import { html } from "../../html.js";

export function Elapsed({ since, skew }) {
  const seconds = Math.max(0, useNow() - skew - since) / 1000;
  return html`<span class="time">${elapsed(seconds)}</span>`;
}
