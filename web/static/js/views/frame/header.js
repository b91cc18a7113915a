// The header: the name, the state of model, sandbox and library, and what is needed everywhere.

import { Mark } from "../../icons.js";
import { html, memo, t } from "../../view.js";
import { PaletteButton } from "./palette.js";
import { openSettings } from "./settings-button.js";
import { Statuses } from "./status.js";
import { IconButton } from "../parts/controls.js";

export const Header = memo(({ health, tools }) => {
  return html`<header class="header">
    <${IconButton}
      icon="menu"
      label=${t("conversations")}
      large
      class="only-narrow"
      popovertarget="conversations"
    />
    <div class="brand">
      <${Mark} />
      <h1>${t("page-name")}</h1>
    </div>
    <${Statuses} health=${health} count=${tools?.length} />
    <${PaletteButton} />
    <${IconButton}
      icon="settings"
      label=${t("settings-title")}
      large
      data-testid="open-settings"
      onClick=${openSettings}
    />
  </header>`;
});
