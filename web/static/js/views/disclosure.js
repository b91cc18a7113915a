// Something that can be shown and hidden.

import { useState } from "preact/hooks";
import { html } from "../html.js";
import { Icon } from "../icons.js";

export function Disclosure({ label, open: initially = false, children }) {
  const [open, setOpen] = useState(initially);
  return html`<div class="disclosure" data-open=${open}>
    <button type="button" class="disclosure-button" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}><${Icon} name="chevronRight" />${label}</button>
    ${open && html`<div class="disclosure-body">${children}</div>`}
  </div>`;
}
