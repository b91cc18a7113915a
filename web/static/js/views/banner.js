// The strip under the header: trouble with the connection, or an error from the server.

import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";

const CONNECTION = {
  reconnecting: {
    tone: "warn",
    message: "Connection lost.",
    remedy: "Reconnecting – nothing will be lost.",
  },
  refused: {
    tone: "bad",
    message: "The server was restarted.",
    remedy: "Open the new link that it printed.",
  },
};

export const Banner = memo(({ connection, notice }) => {
  const trouble = CONNECTION[connection];
  return html`<div class="banners" role="alert">
    ${trouble && html`<p class="banner" data-tone=${trouble.tone} data-testid="banner"><${Icon} name="alert" /><span><strong>${trouble.message}</strong> ${trouble.remedy}</span></p>`}
    ${notice && html`<${Notice} notice=${notice} />`}
  </div>`;
});

function Notice({ notice }) {
  return html`<p class="banner" data-tone="bad" data-testid="notice">
    <${Icon} name="alert" />
    <span><strong>${notice.message}</strong> ${notice.remedy}</span>
    <button type="button" class="icon-button" aria-label="Dismiss" onClick=${() => dispatch({ type: "notice_dismissed" })}>
      <${Icon} name="cross" />
    </button>
  </p>`;
}
