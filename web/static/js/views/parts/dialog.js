// A modal dialog, open as long as it is drawn: its title, a button that closes it, and what it is about.

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { html, t } from "../../view.js";
import { IconButton } from "./controls.js";

export const closeAround = ({ currentTarget }) => currentTarget.closest("dialog").close();

// `close` is called once it is closed, also by Escape or, unless `closedby` forbids it, by a press
// beside it. `note` and `tools` stand beside the title.
export function Dialog({ title, note, tools, kind, testid, closedby = "any", close, children }) {
  const dialog = useRef(null);
  const id = useId();
  useLayoutEffect(() => dialog.current.showModal(), []);
  return html`<dialog
    class=${`dialog ${kind}`}
    ref=${dialog}
    data-testid=${testid}
    aria-labelledby=${id}
    closedby=${closedby}
    onClose=${close}
  >
    <div class="dialog-head">
      <h2 class="popover-title" id=${id}>${title}</h2>
      ${note && html`<span class="file-size">${note}</span>`}
      <span class="dialog-tools"
        >${tools}<${IconButton} icon="cross" label=${t("close")} onClick=${closeAround}
      /></span>
    </div>
    ${children}
  </dialog>`;
}
