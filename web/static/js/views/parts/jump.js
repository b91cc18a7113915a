// The button that goes to what came last, and follows what comes.

import { html, Icon, t } from "../../view.js";

export const Jump = ({ class: kind = "jump", follow }) =>
  html`<button class=${kind} onClick=${follow}>
    <${Icon} name="arrowDown" />${t("chat-latest")}
  </button>`;
