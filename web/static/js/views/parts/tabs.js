// A list of tabs, moved through with the arrow keys.

import { html } from "../../view.js";

export function Tabs({ id, label, tabs, selected, select }) {
  const pressed = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = tabs.findIndex((tab) => tab.id === selected);
    const next = tabs[(index + step + tabs.length) % tabs.length];
    select(next.id);
    document.getElementById(`${id}-tab-${next.id}`).focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${pressed}>
    ${tabs.map(
      (tab) =>
        html`<button
          key=${tab.id}
          role="tab"
          class="tab"
          id=${`${id}-tab-${tab.id}`}
          data-testid=${`tab-${tab.id}`}
          aria-selected=${tab.id === selected}
          aria-controls=${`${id}-panel`}
          tabindex=${tab.id === selected ? 0 : -1}
          onClick=${() => select(tab.id)}
        >
          ${tab.label}${tab.count != null && html`<span class="count">${tab.count}</span>`}
        </button>`,
    )}
  </div>`;
}

export const tabPanel = (id, selected) => ({
  id: `${id}-panel`,
  role: "tabpanel",
  "aria-labelledby": `${id}-tab-${selected}`,
});
