// The header: the name, the state of model, sandbox and library, and what is needed everywhere.

import { html } from "../../html.js";
import { Icon, Mark } from "../../icons.js";
import { memo } from "../../memo.js";
import { t } from "../../texts.js";
import { theme, toggleTheme } from "../../theme.js";
import { PaletteButton } from "./palette.js";
import { openSettings } from "./settings-button.js";
import { Statuses } from "./status.js";

export const Header = memo(({ health, tools }) => {
  return html`<header class="header">
    <button
      type="button"
      class="icon-button only-narrow"
      popovertarget="conversations"
      aria-label=${t("conversations")}
    >
      <${Icon} name="menu" />
    </button>
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
  html`<button
    type="button"
    class="icon-button"
    data-testid=${testid}
    aria-label=${label}
    title=${label}
    onClick=${act}
  >
    <${Icon} name=${icon} />
  </button>`;

function ThemeToggle() {
  const dark = theme.value === "dark";
  return html`<${HeaderButton}
    testid="theme-toggle"
    label=${t(dark ? "palette-light" : "palette-dark")}
    icon=${dark ? "sun" : "moon"}
    act=${toggleTheme}
  />`;
}
