// The state of something, as an icon with its word, which only a screen reader has if `silent`.

import { stateWords } from "../../format.js";
import { html, StateIcon } from "../../view.js";

export const State = ({
  state,
  words = stateWords(state),
  silent = false,
  icon = state,
  ...more
}) =>
  html`<span class="state" data-state=${state} ...${more}
    ><${StateIcon} state=${icon} /><span class=${silent ? "visually-hidden" : null}
      >${words}</span
    ></span
  >`;
