// A button that gives the panel the conversation's room, and gives it back: for code, a tool, or a
// step, of which it stays in sight.

import { useRef } from "preact/hooks";
import { wide } from "../../room.js";
import { dispatch, html, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";

export function WideButton() {
  const button = useRef(null);
  const label = t(wide.value ? "panel-beside" : "value-wide");
  const press = () => {
    dispatch({ type: "panel_widened" });
    requestAnimationFrame(() => button.current?.scrollIntoView({ block: "nearest" }));
  };
  return html`<${IconButton}
    icon=${wide.value ? "shrink" : "open"}
    label=${label}
    class="wide-button"
    ref=${button}
    data-testid="widen"
    onClick=${press}
  />`;
}
