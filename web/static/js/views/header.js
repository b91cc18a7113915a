// The header: the name, and the state of model, sandbox and library.

import { html } from "../html.js";
import { Icon, Mark } from "../icons.js";
import { memo } from "../memo.js";
import { theme, toggleTheme } from "../theme.js";
import { LibraryStatus, ModelStatus, SandboxStatus } from "./status.js";

export const Header = memo(({ health, tools }) => {
  return html`<header class="header">
    <button type="button" class="icon-button only-narrow" popovertarget="conversations" aria-label="Conversations"><${Icon} name="menu" /></button>
    <div class="brand"><${Mark} /><h1>Self-Engineering Agent</h1></div>
    <div class="statuses" role="group" aria-label="Status">
      <${ModelStatus} model=${health?.model} />
      <${SandboxStatus} sandbox=${health?.sandbox} unready=${health?.unready} />
      <${LibraryStatus} library=${health?.library} count=${tools?.length} />
    </div>
    <${ThemeToggle} />
  </header>`;
});

function ThemeToggle() {
  const dark = theme.value === "dark";
  return html`<button type="button" class="icon-button" data-testid="theme-toggle" aria-label=${dark ? "Use the light theme" : "Use the dark theme"} onClick=${toggleTheme}>
    <${Icon} name=${dark ? "sun" : "moon"} />
  </button>`;
}
