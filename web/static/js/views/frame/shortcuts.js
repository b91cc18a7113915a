// The list of shortcuts, in a dialog.

import { SHORTCUTS } from "../../shortcuts.js";
import { html, memo, t } from "../../view.js";
import { Keys } from "./keys.js";
import { closeAround } from "../parts/dialog.js";
import { IconButton } from "../parts/controls.js";

export const Shortcuts = memo(
  () =>
    html`<dialog
      class="dialog"
      id="shortcuts"
      data-testid="shortcuts"
      aria-labelledby="shortcuts-title"
      closedby="any"
    >
      <div class="dialog-head">
        <h2 class="popover-title" id="shortcuts-title">${t("shortcuts-title")}</h2>
        <${IconButton} icon="cross" label=${t("close")} onClick=${closeAround} />
      </div>
      <dl class="shortcuts">
        ${SHORTCUTS.map(
          ({ id }) =>
            html`<div class="shortcut" key=${id}>
              <dt>${t(`shortcut-${id}`)}</dt>
              <dd><${Keys} of=${id} /></dd>
            </div>`,
        )}
      </dl>
    </dialog>`,
);
