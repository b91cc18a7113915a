// A button, or with `href` a link, that is an icon alone: its label is its title, too.

import { html, Icon } from "../../view.js";

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
