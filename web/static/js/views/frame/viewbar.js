// The bar at the bottom of a narrow page: which view shows.

import { html, Icon, memo, show, t } from "../../view.js";

const VIEWS = [
  { view: "chat", icon: "chat" },
  { view: "activity", icon: "activity" },
  { view: "library", icon: "book" },
  { view: "lessons", icon: "lamp" },
];

export const ViewBar = memo(({ view: selected, running, project }) => {
  return html`<nav class="viewbar" aria-label=${t("panel-views")}>
    ${VIEWS.map(
      ({ view, icon }) =>
        html`<button
          key=${view}
          class="viewbar-button"
          data-testid=${`view-${view}`}
          aria-current=${view === selected ? "page" : null}
          onClick=${() => show(view)}
        >
          <${Icon} name=${icon} /><span
            >${t(view === "chat" && project ? "panel-project" : `panel-${view}`)}</span
          >
          ${
            view === "activity" &&
            running &&
            html`<span class="viewbar-dot" role="img" aria-label=${t("state-running")}></span>`
          }
        </button>`,
    )}
  </nav>`;
});
