// The activity: every step of one turn, in the order in which they happened, folded, searched and filtered.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { viewOf } from "../../feed.js";
import { duration, stateWords } from "../../format.js";
import { html } from "../../html.js";
import { Icon, StateIcon } from "../../icons.js";
import { useMarks } from "../../marks.js";
import { memo } from "../../memo.js";
import { useFollow } from "../../scroll.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";
import { ActivityMenu } from "./activity-menu.js";
import { GraphDialog } from "./course.js";
import { Elapsed } from "../parts/elapsed.js";
import { FeedSearch } from "./feed-search.js";
import { Recent } from "./recent.js";
import { Steps } from "./steps.js";

export const Activity = memo(({ turn, ...props }) =>
  turn
    ? html`<${Feed} turn=${turn} ...${props} />`
    : html`<section class="activity" aria-label=${t("activity")} data-testid="activity">
        <div class="panel-scroller"><${Recent} tools=${props.tools} /></div>
      </section>`,
);

function Feed({ turn, order, skew, graph, feed }) {
  const { scroller, content, away, follow, stay } = useFollow(turn.id, turn.state === "running");
  const [drawn, setDrawn] = useState(false);
  const view = useMemo(() => viewOf(feed, turn), [feed, turn]);
  const draw = () => {
    dispatch({ type: "view_selected", view: "activity" }); // so that the dialog stays when the window gets narrow
    setDrawn(true);
  };
  const found = useMarks(scroller, view, turn, stay);
  useLayoutEffect(() => {
    if (feed.goal?.turnId === turn.id && go(scroller.current, feed.goal.path)) {
      stay();
      dispatch({ type: "step_reached" });
    }
  });
  return html`<section class="activity" aria-label=${t("activity")} data-testid="activity">
    <${Head} turn=${turn} order=${order} skew=${skew} feed=${feed} draw=${draw} />
    ${feed.search && html`<${FeedSearch} search=${feed.search} found=${found} />`}
    ${
      feed.errors &&
      html`<p class="feed-filter" data-testid="errors-only">
        ${t(view.shown.size > 0 ? "errors-shown" : "errors-none")}<button
          type="button"
          class="text-button"
          onClick=${() => dispatch({ type: "errors_only", only: false })}
        >
          ${t("errors-all")}
        </button>
      </p>`
    }
    <div
      class="panel-scroller"
      ref=${scroller}
      tabindex="0"
      role="region"
      aria-label=${t("activity-steps")}
    >
      <div ref=${content}><${Steps} of=${turn} view=${view} skew=${skew} /></div>
    </div>
    ${
      away &&
      turn.state === "running" &&
      html`<button type="button" class="jump" onClick=${follow}>
        <${Icon} name="arrowDown" />${t("chat-latest")}
      </button>`
    }
    ${
      drawn &&
      html`<${GraphDialog} course=${turn.course} graph=${graph} close=${() => setDrawn(false)} />`
    }
  </section>`;
}

// Shows the step of that path and gives it the focus; false while it isn't there.
function go(scroller, path) {
  const step = scroller.querySelector(`[data-path="${CSS.escape(path)}"]`);
  if (!step) return false;
  step.scrollIntoView({ block: "start" });
  step.querySelector(".step-name, .plan-request")?.focus({ preventScroll: true });
  return true;
}

function Head({ turn, order, skew, feed, draw }) {
  const { id, state, outcome } = turn;
  const index = order.indexOf(id);
  const turnTo = (offset) => dispatch({ type: "turn_selected", turnId: order[index + offset] });
  const search = () => dispatch({ type: "feed_searched", text: feed.search ? null : "" });
  return html`<div class="activity-head">
    <p class="activity-request" title=${turn.request}>${turn.request}</p>
    <div class="activity-facts">
      <span class="state" data-state=${state} data-outcome=${outcome} data-testid="activity-state"
        ><${StateIcon}
          state=${outcome ?? state}
        />${outcome ? t(`outcome-${outcome}`) : stateWords(state)}</span
      >
      ${
        state === "running"
          ? html`<${Elapsed} since=${turn.startedAt} skew=${skew} />`
          : html`<span class="time">${duration(turn.seconds)}</span>`
      }
      <span class="pager">
        ${
          order.length > 1 &&
          html`<button
              type="button"
              class="icon-button small"
              aria-label=${t("activity-earlier")}
              disabled=${index === 0}
              onClick=${() => turnTo(-1)}
            >
              <${Icon} name="chevronLeft" />
            </button>
            <span title=${t("activity-turn", { number: index + 1, count: order.length })}
              >${t("activity-place", { number: index + 1, count: order.length })}</span
            >
            <button
              type="button"
              class="icon-button small"
              aria-label=${t("activity-later")}
              disabled=${index === order.length - 1}
              onClick=${() => turnTo(1)}
            >
              <${Icon} name="chevronRight" />
            </button>`
        }
        <button
          type="button"
          class="icon-button small"
          data-testid="search-steps"
          aria-label=${t("feed-search")}
          title=${t("feed-search")}
          aria-expanded=${feed.search ? "true" : "false"}
          onClick=${search}
        >
          <${Icon} name="search" />
        </button>
        <${ActivityMenu} turn=${turn} errors=${feed.errors} draw=${draw} />
      </span>
    </div>
  </div>`;
}
