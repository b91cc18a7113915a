// Saving a plan that worked as a tool: the button, and its result.

import { useState } from "preact/hooks";
import { keep } from "../../connection.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { t } from "../../texts.js";

export function Keep({ turnId }) {
  const [sent, setSent] = useState(false);
  const send = async () => {
    setSent(true);
    setSent(await keep(turnId));
  };
  return html`<button
    type="button"
    class="button keep"
    data-testid="keep"
    disabled=${sent}
    onClick=${send}
  >
    <${Icon} name="tool" />${t("turn-keep")}
  </button>`;
}
