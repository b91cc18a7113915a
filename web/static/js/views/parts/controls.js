// Controls that many views share.

import { html, Icon, t } from "../../view.js";

// A button, or with `href` a link, that is an icon alone: its label is its title, too.
// `more`: further attributes; `large`: as high as other controls.
export function IconButton({
  icon,
  label,
  large = false,
  class: also = "",
  title = label,
  ...more
}) {
  const kind = `icon-button${large ? "" : " small"} ${also}`.trim();
  const tag = more.href ? "a" : "button";
  return html`<${tag} class=${kind} aria-label=${label} title=${title} ...${more}>
    <${Icon} name=${icon} />
  <//>`;
}

// A part of the page that scrolls, also by keys: it has a name and takes the focus.
export const Region = ({ label, children, ...more }) =>
  html`<div tabindex="0" role="region" aria-label=${label} ...${more}>${children}</div>`;

// A list to choose one of.
// `options`: [value, words] each; `choose` gets the value that was chosen, of whatever type.
export function Select({ options, value, choose, class: kind = "select", ...more }) {
  const changed = ({ target }) => choose(options[target.selectedIndex][0]);
  return html`<select class=${kind} value=${String(value)} onChange=${changed} ...${more}>
    ${options.map(
      ([one, words]) => html`<option key=${one} value=${String(one)}>${words}</option>`,
    )}
  </select>`;
}

// Buttons of which one is pressed.
export const Switch = ({ label, value, of, choose }) =>
  html`<span class="switch" role="group" aria-label=${label}
    >${of.map(
      (view) =>
        html`<button
          key=${view}
          data-testid=${`view-${view}`}
          aria-pressed=${view === value}
          onClick=${() => choose(view)}
        >
          ${t(`view-${view}`)}
        </button>`,
    )}</span
  >`;
