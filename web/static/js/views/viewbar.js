// The bar at the bottom of a narrow page: which view shows.

import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";

const VIEWS = [
  { view: "chat", label: "Chat", icon: "chat" },
  { view: "activity", label: "Activity", icon: "activity" },
  { view: "library", label: "Library", icon: "book" },
  { view: "projects", label: "Projects", icon: "folder" },
  { view: "lessons", label: "Lessons", icon: "lamp" },
];

export const ViewBar = memo(({ view: selected, running, project }) => {
  return html`<nav class="viewbar" aria-label="Views">
    ${VIEWS.map(
      ({
        view,
        label,
        icon,
      }) => html`<button key=${view} type="button" class="viewbar-button" data-testid=${`view-${view}`} aria-current=${view === selected ? "page" : null} onClick=${() => dispatch({ type: "view_selected", view })}>
      <${Icon} name=${icon} /><span>${view === "chat" && project ? "Project" : label}</span>
      ${view === "activity" && running && html`<span class="viewbar-dot" role="img" aria-label="running"></span>`}
    </button>`,
    )}
  </nav>`;
});
