// The header: the name, the state of model, sandbox and library, and what is needed everywhere.

import { Mark } from "../../icons.js";
import { theme, toggleTheme } from "../../theme.js";
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
    <${HeaderButton}
      testid="open-settings"
      label=${t("settings-title")}
      icon="settings"
      act=${openSettings}
    />
    <${ThemeToggle} />
  </header>`;
});

const HeaderButton = ({ testid, label, icon, act }) =>
  html`<${IconButton} icon=${icon} label=${label} large data-testid=${testid} onClick=${act} />`;

function ThemeToggle() {
  const dark = theme.value === "dark";
  return html`<${HeaderButton}
    testid="theme-toggle"
    label=${t(dark ? "palette-light" : "palette-dark")}
    icon=${dark ? "sun" : "moon"}
    act=${toggleTheme}
  />`;
}
