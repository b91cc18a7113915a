// A box to check, or a switch, with its words after it.

import { html } from "../../view.js";

// `set` gets whether it is checked now; `also` are attributes of the label.
export const Check = ({ label, set, also = { class: "check" }, ...more }) =>
  html`<label ...${also}
    ><input
      type="checkbox"
      onChange=${({ target }) => set(target.checked)}
      ...${more}
    />${label}</label
  >`;
