// A part of the page that scrolls, also by keys: it has a name and takes the focus.

import { html } from "../../view.js";

export const Region = ({ label, children, ...more }) =>
  html`<div tabindex="0" role="region" aria-label=${label} ...${more}>${children}</div>`;
