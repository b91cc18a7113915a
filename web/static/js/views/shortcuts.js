// The list of shortcuts, in a dialog.

import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { SHORTCUTS } from "../shortcuts.js";

const Keys = ({ keys }) => keys.map((key, i) => html`${i > 0 && "+"}<kbd class="key">${key}</kbd>`);

export const Shortcuts = memo(
  () => html`<dialog class="dialog" id="shortcuts" data-testid="shortcuts" aria-labelledby="shortcuts-title" closedby="any">
  <div class="dialog-head">
    <h2 class="popover-title" id="shortcuts-title">Keyboard shortcuts</h2>
    <button type="button" class="icon-button small" aria-label="Close" onClick=${(event) => event.currentTarget.closest("dialog").close()}><${Icon} name="cross" /></button>
  </div>
  <dl class="shortcuts">
    ${SHORTCUTS.map(({ keys, words }) => html`<div class="shortcut" key=${words}><dt>${words}</dt><dd><${Keys} keys=${keys} /></dd></div>`)}
  </dl>
</dialog>`,
);
