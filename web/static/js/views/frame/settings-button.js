// The button that opens the settings, where they are what helps.

import { dispatch, html, Icon, t } from "../../view.js";

export const openSettings = () => dispatch({ type: "settings_opened" });

export const SettingsButton = ({ testid }) =>
  html`<button class="button" data-testid=${testid} onClick=${openSettings}>
    <${Icon} name="settings" />${t("settings-title")}
  </button>`;
