// A sentence of the engine: what stands between backticks is code, everything else is text.

import { proseParts } from "../../format.js";
import { html } from "../../view.js";

export const Prose = ({ text }) =>
  proseParts(text).map(({ code, words }, i) =>
    code ? html`<code key=${i}>${words}</code>` : words,
  );
