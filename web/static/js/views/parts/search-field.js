// A field to search or filter by; `set` gets what is typed.

import { html } from "../../view.js";

export const SearchField = ({ label, set, ...more }) =>
  html`<input
    type="search"
    placeholder=${label}
    aria-label=${label}
    onInput=${({ target }) => set(target.value)}
    ...${more}
  />`;
