// A button that gives the panel the conversation's room, and gives it back: for code, a tool, or a
// step, of which it stays in sight.

import { useRef } from "preact/hooks";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { wide } from "../../room.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";

export function WideButton() {
  const button = useRef(null);
  const label = t(wide.value ? "panel-beside" : "value-wide");
  const press = () => {
    dispatch({ type: "panel_widened" });
    requestAnimationFrame(() => button.current?.scrollIntoView({ block: "nearest" }));
  };
  return html`<button
    type="button"
    class="icon-button small wide-button"
    ref=${button}
    data-testid="widen"
    aria-label=${label}
    title=${label}
    onClick=${press}
  >
    <${Icon} name=${wide.value ? "shrink" : "open"} />
  </button>`;
}
