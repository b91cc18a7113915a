// The menu of the activity: how much of the steps shows, and the graph of the stages.

import { useRef } from "preact/hooks";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";
import { move, place } from "../frame/conversation-menu.js";

export function ActivityMenu({ turn, errors, draw }) {
  const [button, menu] = [useRef(null), useRef(null)];
  const toggled = ({ newState }) => {
    if (!menu.current) return; // the event comes later than what it tells of
    if (newState === "open") place(menu.current, button.current);
    else if (menu.current.contains(document.activeElement)) button.current.focus();
  };
  const item = (testid, icon, label, act) => {
    const choose = () => {
      button.current.focus(); // where a dialog returns the focus to
      menu.current.hidePopover();
      act();
    };
    return html`<button
      type="button"
      role="menuitem"
      tabindex="-1"
      class="menu-item"
      data-testid=${testid}
      onClick=${choose}
    >
      <${Icon} name=${icon} />${label}
    </button>`;
  };
  const toggle = (open) => () => dispatch({ type: "steps_toggled", turnId: turn.id, open });
  return html`<button
      type="button"
      class="icon-button small"
      ref=${button}
      popovertarget="activity-menu"
      aria-haspopup="menu"
      data-testid="activity-more"
      aria-label=${t("activity-more")}
      title=${t("activity-more")}
    >
      <${Icon} name="more" />
    </button>
    <div
      class="menu"
      id="activity-menu"
      popover="auto"
      role="menu"
      aria-label=${t("activity-more")}
      ref=${menu}
      onToggle=${toggled}
      onKeyDown=${move}
    >
      ${item("expand-steps", "unfold", t("steps-expand"), toggle(true))}
      ${item("collapse-steps", "fold", t("steps-collapse"), toggle(false))}
      ${item("toggle-errors", errors ? "check" : "alert", t("errors-only"), () =>
        dispatch({ type: "errors_only", only: !errors }),
      )}
      ${turn.course.length > 0 && item("show-graph", "graph", t("graph"), draw)}
    </div>`;
}
