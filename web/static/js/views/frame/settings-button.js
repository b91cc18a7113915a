// The button that opens the settings, where they are what helps.

import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";

export const openSettings = () => dispatch({ type: "settings_opened" });

export const SettingsButton = ({ testid }) =>
  html`<button type="button" class="button" data-testid=${testid} onClick=${openSettings}>
    <${Icon} name="settings" />${t("settings-title")}
  </button>`;
