// The offer to restore the conversation that was deleted last.

import { useLayoutEffect, useRef } from "preact/hooks";
import { changeConversation } from "../../loading.js";
import { openConversation } from "../../route.js";
import { dispatch, html, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";

export function Undo({ deleted: { id, title, open } }) {
  const button = useRef(null);
  useLayoutEffect(() => button.current.focus(), []);
  const dismiss = () => dispatch({ type: "deletion_dismissed" });
  const restore = async () => {
    if (!(await changeConversation(id, { deleted: false }))) return;
    dismiss();
    if (open) openConversation(id);
  };
  return html`<div
    class="undo"
    role="group"
    aria-label=${t("conversation-deleted")}
    data-testid="undo"
  >
    <span class="undo-title"
      >${t("conversation-deleted-title", { title: title || t("conversation-untitled") })}</span
    >
    <button class="button" ref=${button} onClick=${restore}>${t("conversation-undo")}</button>
    <${IconButton} icon="cross" label=${t("conversation-dismiss")} onClick=${dismiss} />
  </div>`;
}
