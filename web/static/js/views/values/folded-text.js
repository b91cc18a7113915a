// A text of any length: its beginning, and more of it on demand.

import { useState } from "preact/hooks";
import { fileSize, number } from "../../format.js";
import { html, t } from "../../view.js";
import { More } from "../parts/controls.js";

const FOLDED = 1200; // characters
const STEP = 200_000;

export function FoldedText({ text, label, open = false }) {
  const [shown, setShown] = useState(open ? STEP : FOLDED);
  const folds = text.length > FOLDED;
  const rest = text.length - shown;
  const words =
    rest > STEP
      ? t("text-more", { size: fileSize(rest), count: number(rest) })
      : t("text-all", { count: text.length });
  return html`<pre
      class="value-text"
      tabindex="0"
      role="group"
      aria-label=${label}
      data-folded=${rest > 0 && shown === FOLDED}
    >
${text.slice(0, shown)}</pre>
    ${
      folds &&
      (rest > 0 || !open) &&
      html`<${More}
        data-testid="more-text"
        open=${rest <= 0}
        label=${words}
        toggle=${() => setShown(rest > 0 ? shown + STEP : FOLDED)}
      />`
    }`;
}
