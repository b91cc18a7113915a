// The panel next to an empty conversation: the tools that were built last, or some that the library has.

import { ago } from "../../format.js";
import { recentTools } from "../../recent.js";
import { html, Icon, memo, openTool, show, t } from "../../view.js";
import { Nothing } from "../parts/controls.js";

export const Recent = memo(({ tools }) => {
  const { built, shown } = recentTools(tools);
  if (shown.length === 0)
    return html`<${Nothing} icon="book" title=${t("recent-none")} text=${t("recent-none-text")} />`;
  return html`<section
    class="recent"
    data-testid="recent"
    aria-label=${t(built ? "recent-built" : "recent-library")}
  >
    <h2 class="eyebrow">${t(built ? "recent-built" : "recent-library")}</h2>
    <ul>
      ${shown.map((tool) => html`<li key=${tool.name}><${Row} tool=${tool} built=${built} /></li>`)}
    </ul>
    <button class="text-button recent-all" onClick=${() => show("library")}>
      ${t("recent-all")}<${Icon} name="chevronRight" />
    </button>
  </section>`;
});

function Row({ tool: { name, description, created_at: made }, built }) {
  const open = () => openTool(name);
  return html`<button class="recent-tool" data-testid="recent-tool" onClick=${open}>
    <span class="recent-head"
      ><code class="recent-name">${name}</code
      >${built && html`<span class="time">${ago(made)}</span>`}</span
    >
    <span class="recent-description">${description}</span>
  </button>`;
}
