// The offer to restore the conversation that was deleted last.

import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { changeConversation } from "../loading.js";
import { openConversation } from "../route.js";
import { dispatch } from "../store.js";

export function Undo({ deleted: { id, title, open } }) {
  const button = useRef(null);
  useLayoutEffect(() => button.current.focus(), []);
  const dismiss = () => dispatch({ type: "deletion_dismissed" });
  const restore = async () => {
    if (!(await changeConversation(id, { deleted: false }))) return;
    dismiss();
    if (open) openConversation(id);
  };
  return html`<div class="undo" role="group" aria-label="Deleted conversation" data-testid="undo">
    <span class="undo-title">Deleted “${title || "Untitled"}”</span>
    <button type="button" class="button" ref=${button} onClick=${restore}>Undo</button>
    <button type="button" class="icon-button small" aria-label="Dismiss" onClick=${dismiss}><${Icon} name="cross" /></button>
  </div>`;
}
