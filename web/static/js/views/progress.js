// The five steps of a synthesis in one line.

import { STATE_WORDS, stepWords } from "../format.js";
import { html } from "../html.js";
import { StateIcon } from "../icons.js";
import { memo } from "../memo.js";
import { progress } from "../progress.js";

export const Progress = memo(({ steps, answered }) => {
  const parts = progress(steps, answered);
  return (
    parts &&
    html`<ol class="progress" data-testid="progress" aria-label="Building a tool">
      ${parts.map(
        ({
          name,
          state,
          attempt,
        }) => html`<li key=${name} class="progress-part" data-step=${name} data-state=${state}>
        <span class="progress-icon"><${StateIcon} state=${state} /></span>
        <span class="progress-name">${stepWords(name)}${attempt > 1 && html`<span class="visually-hidden">, attempt ${attempt}</span>`}</span>
        <span class="visually-hidden">: ${STATE_WORDS[state]}</span>
      </li>`,
      )}
    </ol>`
  );
});
