// The keys of a shortcut.

import { keysOf, keyWords } from "../../shortcuts.js";
import { html } from "../../view.js";

export const Keys = ({ of }) =>
  html`<span class="keys"
    >${keysOf(of).map(
      (key, i) => html`${i > 0 && "+"}<kbd class="key">${keyWords(key)}</kbd>`,
    )}</span
  >`;
