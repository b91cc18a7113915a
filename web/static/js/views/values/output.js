// What a program printed, or said of an error, as it is.

import { html } from "../../view.js";

export const Output = ({ text, label, class: kind = "output", ...more }) =>
  html`<pre class=${kind} tabindex="0" aria-label=${label} ...${more}>${text}</pre>`;
