// The strips under the header: trouble with the connection, an error from the server, and what is still being set up.

import { partWords, progressWords, sentence } from "../../format.js";
import { dispatch, html, Icon, memo, StateIcon, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";
import { Details } from "../parts/problem.js";
import { SettingsButton } from "./settings-button.js";

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
  const { message, remedy, details, settings } = notice;
  return html`<div class="banner" data-tone="bad" data-testid="notice">
    <${Icon} name="alert" />
    <div>
      <strong>${sentence(message)}</strong> ${sentence(remedy)}
      ${details && html`<${Details} text=${details} />`}
    </div>
    ${settings && html`<${SettingsButton} testid="notice-settings" />`}
    <${IconButton}
      icon="cross"
      label=${t("banner-dismiss")}
      large
      onClick=${() => dispatch({ type: "notice_dismissed" })}
    />
  </div>`;
}

// The parts that the server is still setting up, until all are ready.
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
          >${" "}${working.map(progressWords).join(" · ")}.${" "}${t("setting-up-waits")}</span
        >
      </p>`
    }
    ${unready.filter(isTold).map(
      ({ part, detail }) =>
        html`<div key=${part} class="banner" data-tone="warn" data-testid="not-set-up">
          <${Icon} name="alert" />
          <div>
            <strong>${t("setting-up-failed", { part: partWords(part) })}</strong>
            ${" "}${t("setting-up-again")}<${Details} text=${detail} />
          </div>
        </div>`,
    )}
  </div>`;
});
