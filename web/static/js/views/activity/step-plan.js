// The plan in the activity: each of its steps, and what it went through.

import { isOpen, pathOfPart } from "../../feed.js";
import { duration, number } from "../../format.js";
import { dispatch, html, t } from "../../view.js";
import { Elapsed } from "../parts/elapsed.js";
import { PartFacts, PartState } from "../chat/plan.js";
import { Steps } from "./steps.js";

export function PlanStep({ step: { parts }, path, view, skew }) {
  return html`<ol class="plan" aria-label=${t("plan")}>
    ${parts.map((part, index) => {
      const at = pathOfPart(path, index);
      if (view.shown && !view.shown.has(at)) return null;
      return html`<${Part}
        key=${part.id}
        ...${{ part, parts, view, skew }}
        number=${index + 1}
        path=${at}
      />`;
    })}
  </ol>`;
}

function Part({ part, parts, number: place, path, view, skew }) {
  const open = isOpen(view, path, part);
  const toggle = () => dispatch({ type: "step_toggled", turnId: view.turnId, path, open: !open });
  return html`<li class="plan-part" data-part=${part.id} data-path=${path} data-state=${part.state}>
    <${PartState} state=${part.state} />
    <div>
      <p>
        <span class="plan-number">${number(place)}</span>${" "}${
          part.steps.length > 0
            ? html`<button class="plan-request" aria-expanded=${open} onClick=${toggle}>
                ${part.request}
              </button>`
            : part.request
        }
      </p>
      <${PartFacts} part=${part} parts=${parts} />
    </div>
    <span
      >${
        part.state === "running"
          ? html`<${Elapsed} since=${part.startedAt} skew=${skew} />`
          : html`<span class="time">${duration(part.seconds)}</span>`
      }</span
    >${
      open &&
      part.steps.length > 0 &&
      html`<div class="plan-detail">
        <${Steps} of=${part} view=${view} above=${`${path}/`} skew=${skew} />
      </div>`
    }
  </li>`;
}
