// What the server is still setting up: a strip under the header, until all is ready.

import { partWords } from "../../format.js";
import { html } from "../../html.js";
import { Icon, StateIcon } from "../../icons.js";
import { memo } from "../../memo.js";
import { t } from "../../texts.js";

// An empty conversation reports a missing sandbox.
const isTold = ({ part, state, detail }) => state === "failed" && part !== "sandbox" && detail;

export const SettingUp = memo(({ unready = [] }) => {
  const working = unready.filter((part) => part.state === "working");
  return html`<div class="banners" role="status">
    ${
      working.length > 0 &&
      html`<p class="banner" data-tone="info" data-testid="setting-up">
        <${StateIcon} state="running" /><span
          ><strong>${t("setting-up")}</strong
          >${" "}${working.map(told).join(" · ")}.${" "}${t("setting-up-waits")}</span
        >
      </p>`
    }
    ${unready.filter(isTold).map(
      ({ part, detail }) =>
        html`<p key=${part} class="banner" data-tone="warn" data-testid="not-set-up">
          <${Icon} name="alert" /><span
            ><strong>${t("setting-up-failed", { part: partWords(part) })}</strong
            >${" "}${detail[0].toUpperCase()}${detail.slice(1)}.${" "}${t("setting-up-again")}</span
          >
        </p>`,
    )}
  </div>`;
});

const told = ({ part, detail }) => detail || partWords(part);
