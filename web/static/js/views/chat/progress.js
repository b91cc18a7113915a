// The progress of a turn that builds something: a bar of its stages, each of which leads to the step that shows it.

import { stateWords, stepWords } from "../../format.js";
import { progress } from "../../progress.js";
import { dispatch, html, Icon, memo, StateIcon, stepIcon, t } from "../../view.js";

const NAMED = 10; // as many names fit beside each other

export const Progress = memo(({ turnId, course, steps, state }) => {
  const parts = progress({ course, steps, state });
  return (
    parts &&
    html`<div class="progress">
      <ol
        class="progress-bar"
        data-testid="progress"
        data-parts=${parts.length > NAMED ? "many" : "few"}
        aria-label=${t("progress")}
      >
        ${parts.map(
          (part) =>
            html`<li
              key=${part.stage}
              class="progress-part"
              data-stage=${part.stage}
              data-state=${part.state}
              aria-current=${part.state === "running" ? "step" : null}
            >
              <${Part} ...${part} turnId=${turnId} />
            </li>`,
        )}
      </ol>
    </div>`
  );
});

function Part({ stage, state, attempt, path, turnId }) {
  const name =
    attempt > 1 ? t("progress-again", { stage: stepWords(stage), attempt }) : stepWords(stage);
  const words = html`<span class="progress-icon"><${StateIcon} state=${state} /></span>
    <span class="progress-icon progress-kind"><${Icon} name=${stepIcon(stage)} /></span>
    <span class="progress-name">${name}</span
    ><span class="visually-hidden">: ${stateWords(state)}</span>`;
  if (!path) return html`<span class="progress-stage" title=${name}>${words}</span>`;
  const go = () => dispatch({ type: "step_wanted", turnId, path });
  return html`<button class="progress-stage" title=${name} onClick=${go}>${words}</button>`;
}
