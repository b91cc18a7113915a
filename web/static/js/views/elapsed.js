// Time that passes while something runs.

import { useNow } from "../clock.js";
import { html } from "../html.js";

export function Elapsed({ since, skew }) {
  const seconds = Math.max(0, useNow() - skew - since) / 1000;
  return html`<span class="time">${seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`}</span>`;
}
