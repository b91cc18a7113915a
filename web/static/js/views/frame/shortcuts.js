// The list of shortcuts, in a dialog.

import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { memo } from "../../memo.js";
import { SHORTCUTS } from "../../shortcuts.js";
import { t } from "../../texts.js";
import { Keys } from "./keys.js";

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
        <button
          type="button"
          class="icon-button small"
          aria-label=${t("shortcuts-close")}
          onClick=${(event) => event.currentTarget.closest("dialog").close()}
        >
          <${Icon} name="cross" />
        </button>
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
