// The activity: every step of one turn, in the order in which they happened, folded, searched and filtered.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { viewOf } from "../../feed.js";
import { duration, usageText } from "../../format.js";
import { useMarks } from "../../marks.js";
import { useFollow } from "../../scroll.js";
import { dispatch, html, memo, show, t } from "../../view.js";
import { GraphDialog } from "./course.js";
import { Elapsed } from "../parts/elapsed.js";
import { FeedSearch } from "./feed-search.js";
import { Steps } from "./steps.js";
import { IconButton, Jump, Region, State } from "../parts/controls.js";
import { Menu, MenuItem } from "../parts/menu.js";

export const Activity = memo(({ turn, order, skew, graph, feed }) => {
  const { scroller, content, away, follow, stay } = useFollow(turn.id, turn.state === "running");
  const [drawn, setDrawn] = useState(false);
  const view = useMemo(() => viewOf(feed, turn), [feed, turn]);
  const draw = () => {
    show("activity"); // so that the dialog stays when the window gets narrow
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
          class="text-button"
          onClick=${() => dispatch({ type: "errors_only", only: false })}
        >
          ${t("errors-all")}
        </button>
      </p>`
    }
    <${Region} class="panel-scroller" label=${t("activity-steps")} ref=${scroller}>
      <div ref=${content}><${Steps} of=${turn} view=${view} skew=${skew} /></div>
    <//>
    ${away && turn.state === "running" && html`<${Jump} follow=${follow} />`}
    ${
      drawn &&
      html`<${GraphDialog} course=${turn.course} graph=${graph} close=${() => setDrawn(false)} />`
    }
  </section>`;
});

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
    <p class="activity-usage only-narrow">${usageText(turn.usage)}</p>
    <div class="activity-facts">
      <${State}
        data-testid="activity-state"
        data-outcome=${outcome}
        state=${state}
        icon=${outcome ?? state}
        words=${outcome ? t(`outcome-${outcome}`) : undefined}
      />
      ${
        state === "running"
          ? html`<${Elapsed} since=${turn.startedAt} skew=${skew} />`
          : html`<span class="time">${duration(turn.seconds)}</span>`
      }
      <span class="pager">
        ${
          order.length > 1 &&
          html`<${IconButton}
              icon="chevronLeft"
              label=${t("activity-earlier")}
              disabled=${index === 0}
              onClick=${() => turnTo(-1)}
            />
            <span title=${t("activity-turn", { number: index + 1, count: order.length })}
              >${t("activity-place", { number: index + 1, count: order.length })}</span
            >
            <${IconButton}
              icon="chevronRight"
              label=${t("activity-later")}
              disabled=${index === order.length - 1}
              onClick=${() => turnTo(1)}
            />`
        }
        <${IconButton}
          icon="search"
          label=${t("feed-search")}
          data-testid="search-steps"
          aria-expanded=${feed.search !== null}
          onClick=${search}
        />
        <${ActivityMenu} turn=${turn} errors=${feed.errors} draw=${draw} />
      </span>
    </div>
  </div>`;
}

// How much of the steps shows, and the graph of the stages.
function ActivityMenu({ turn, errors, draw }) {
  const item = (testid, icon, label, act) =>
    html`<${MenuItem} data-testid=${testid} icon=${icon} label=${label} act=${act} />`;
  const toggle = (open) => () => dispatch({ type: "steps_toggled", turnId: turn.id, open });
  const filter = () => dispatch({ type: "errors_only", only: !errors });
  return html`<${Menu} id="activity-menu" testid="activity-more" label=${t("activity-more")}>
    ${item("expand-steps", "unfold", t("steps-expand"), toggle(true))}
    ${item("collapse-steps", "fold", t("steps-collapse"), toggle(false))}
    ${item("toggle-errors", errors ? "check" : "alert", t("errors-only"), filter)}
    ${turn.course.length > 0 && item("show-graph", "graph", t("graph"), draw)}
  <//>`;
}
