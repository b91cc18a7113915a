// The changes between two sources, line by line.

import { diffLines, folded } from "../../diff.js";
import { html, memo, t } from "../../view.js";

const SIGNS = { same: " ", added: "+", removed: "−" };

export const Changes = memo(({ before, after, label }) => {
  const lines = folded(diffLines(before, after));
  if (lines.every((line) => line.change === "skipped"))
    return html`<p class="step-note">${t("changes-none")}</p>`;
  return html`<div class="code">
    <pre tabindex="0" aria-label=${label}><code class="diff">${lines.map(diffLine)}</code></pre>
  </div>`;
});

export function diffLine({ change, text, count }, index) {
  if (change === "skipped")
    return html`<span key=${index} class="diff-line" data-change="skipped"
      >${text ?? t("changes-same", { count })}${"\n"}</span
    >`;
  return html`<span key=${index} class="diff-line" data-change=${change}
    ><span class="diff-sign">${SIGNS[change]}</span>${text}${"\n"}</span
  >`;
}
