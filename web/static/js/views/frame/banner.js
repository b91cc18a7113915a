// The strip under the header: trouble with the connection, or an error from the server.

import { sentence } from "../../format.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { memo } from "../../memo.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";

const TONES = { reconnecting: "warn", refused: "bad" };

export const Banner = memo(({ connection, notice }) => {
  const tone = TONES[connection];
  return html`<div class="banners" role="alert">
    ${
      tone &&
      html`<p class="banner" data-tone=${tone} data-testid="banner">
        <${Icon} name="alert" /><span
          ><strong>${t(`banner-${connection}`)}</strong> ${t(`banner-${connection}-remedy`)}</span
        >
      </p>`
    }
    ${notice && html`<${Notice} notice=${notice} />`}
  </div>`;
});

function Notice({ notice }) {
  return html`<p class="banner" data-tone="bad" data-testid="notice">
    <${Icon} name="alert" />
    <span><strong>${sentence(notice.message)}</strong> ${sentence(notice.remedy)}</span>
    <button
      type="button"
      class="icon-button"
      aria-label=${t("banner-dismiss")}
      onClick=${() => dispatch({ type: "notice_dismissed" })}
    >
      <${Icon} name="cross" />
    </button>
  </p>`;
}
