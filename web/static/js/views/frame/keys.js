// The keys of a shortcut.

import { html } from "../../html.js";
import { keysOf, keyWords } from "../../shortcuts.js";

export const Keys = ({ of }) =>
  html`<span class="keys"
    >${keysOf(of).map(
      (key, i) => html`${i > 0 && "+"}<kbd class="key">${keyWords(key)}</kbd>`,
    )}</span
  >`;
