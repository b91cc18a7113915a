// Something that can be shown and hidden.

import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { html, Icon } from "../../view.js";

// Whether a search has found something here: then nothing of it is folded.
export const Found = createContext(false);

// The open and closed disclosures, while the page is open, by the keys of those that stay so elsewhere.
const kept = new Map();

// `keep`: a key by which it stays as a person left it, also where it is drawn again.
export function Disclosure({ label, open: initially = false, keep, children }) {
  const found = useContext(Found);
  const [chosen, choose] = useState(kept.get(keep) ?? null);
  const open = chosen ?? (initially || found);
  const toggle = () => {
    choose(!open);
    if (keep) kept.set(keep, !open);
  };
  return html`<div class="disclosure" data-open=${open}>
    <button class="disclosure-button" aria-expanded=${open} onClick=${toggle}>
      <${Icon} name="chevronRight" />${label}
    </button>
    ${open && html`<div class="disclosure-body">${children}</div>`}
  </div>`;
}
