// A list to choose one of.

import { html } from "../../view.js";

// `options`: [value, words] each; `choose` gets the value that was chosen, of whatever type.
export function Select({ options, value, choose, class: kind = "select", ...more }) {
  const changed = ({ target }) => choose(options[target.selectedIndex][0]);
  return html`<select class=${kind} value=${String(value)} onChange=${changed} ...${more}>
    ${options.map(
      ([one, words]) => html`<option key=${one} value=${String(one)}>${words}</option>`,
    )}
  </select>`;
}
