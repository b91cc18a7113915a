// Something that can be shown and hidden.

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { html, Icon } from "../../view.js";

// Whether a search has found something here: then nothing of it is folded.
export const Found = createContext(false);

export function Disclosure({ label, open: initially = false, children }) {
  const found = useContext(Found);
  const [chosen, choose] = useState(null);
  const open = chosen ?? (initially || found);
  return html`<div class="disclosure" data-open=${open}>
    <button class="disclosure-button" aria-expanded=${open} onClick=${() => choose(!open)}>
      <${Icon} name="chevronRight" />${label}
    </button>
    ${open && html`<div class="disclosure-body">${children}</div>`}
  </div>`;
}
