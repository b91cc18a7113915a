// The activity feed: every step of one turn, in the order in which they happened.

import { duration, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { Icon, StateIcon } from "../icons.js";
import { memo } from "../memo.js";
import { useFollow } from "../scroll.js";
import { dispatch } from "../store.js";
import { CourseLine, WholeGraph } from "./course.js";
import { Elapsed } from "./elapsed.js";
import { Steps } from "./steps.js";

export const Activity = memo(({ turn, order, skew, graph }) => {
  const { scroller, content, away, follow } = useFollow(turn?.id, turn?.state === "running");
  return html`<section class="activity" aria-label="Activity" data-testid="activity">
    ${turn && html`<${Head} turn=${turn} order=${order} skew=${skew} />`}
    <div class="panel-scroller" ref=${scroller} tabindex="0" role="region" aria-label="Steps">
      <div ref=${content}>
        ${turn?.course.length > 0 && html`<${WholeGraph} key=${turn.id} course=${turn.course} graph=${graph} />`}
        ${turn ? html`<${Steps} of=${turn} skew=${skew} />` : html`<${Nothing} />`}
      </div>
    </div>
    ${away && turn?.state === "running" && html`<button type="button" class="jump" onClick=${follow}><${Icon} name="arrowDown" />Latest</button>`}
  </section>`;
});

function OutcomeBadge({ turn: { state, outcome } }) {
  return html`<span class="state" data-state=${state} data-outcome=${outcome} data-testid="activity-state"><${StateIcon} state=${outcome ?? state} />${outcome ?? STATE_WORDS[state]}</span>`;
}

function Nothing() {
  return html`<div class="nothing">
    <${Icon} name="activity" />
    <p class="nothing-title">Nothing has happened yet</p>
    <p>Each step of a request appears here as it happens: the search, the tests, the code, and every verdict.</p>
  </div>`;
}

function Head({ turn, order, skew }) {
  const index = order.indexOf(turn.id);
  const go = (offset) => dispatch({ type: "turn_selected", turnId: order[index + offset] });
  return html`<div class="activity-head">
    <p class="activity-request" title=${turn.request}>${turn.request}</p>
    <div class="activity-facts">
      <${OutcomeBadge} turn=${turn} />
      ${turn.state === "running" ? html`<${Elapsed} since=${turn.startedAt} skew=${skew} />` : html`<span class="time">${duration(turn.seconds)}</span>`}
      ${
        order.length > 1 &&
        html`<span class="pager">
        <button type="button" class="icon-button small" aria-label="Earlier turn" disabled=${index === 0} onClick=${() => go(-1)}><${Icon} name="chevronLeft" /></button>
        <span>Turn ${index + 1} of ${order.length}</span>
        <button type="button" class="icon-button small" aria-label="Later turn" disabled=${index === order.length - 1} onClick=${() => go(1)}><${Icon} name="chevronRight" /></button>
      </span>`
      }
    </div>
    ${turn.course.length > 0 && html`<${CourseLine} key=${turn.id} course=${turn.course} skew=${skew} />`}
  </div>`;
}
