// The button that shows all of what is shown in part, and folds it again.

import { html, t } from "../../view.js";

export const More = ({ open, label, toggle, class: kind = "code-more", ...more }) =>
  html`<button class=${kind} aria-expanded=${open} onClick=${toggle} ...${more}>
    ${open ? t("text-less") : label}
  </button>`;
