// The plan in the activity feed: each of its steps, with all details on demand.

import { duration, plural, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { Course } from "./course.js";
import { Disclosure } from "./disclosure.js";
import { Elapsed } from "./elapsed.js";
import { Part } from "./plan.js";
import { Steps } from "./steps.js";

export function PlanStep({ step, skew }) {
  return html`<ol class="plan" aria-label="Steps of the plan">
    ${step.parts.map(
      (
        part,
      ) => html`<li key=${part.id} class="plan-part" data-part=${part.id} data-state=${part.state}>
      <${Part} part=${part} />
      <span>${part.state === "running" ? html`<${Elapsed} since=${part.startedAt} skew=${skew} />` : html`<span class="time">${duration(part.seconds)}</span>`}</span>
      ${part.steps.length > 0 && html`<div class="plan-detail"><${Disclosure} label=${`${plural(part.steps.length, "step")} of ${part.id}, ${STATE_WORDS[part.state]}`} open=${part.state === "running"}><${Course} course=${part.course} label=${`Stages of ${part.id}`} skew=${skew} /><${Steps} of=${part} skew=${skew} /><//></div>`}
    </li>`,
    )}
  </ol>`;
}
