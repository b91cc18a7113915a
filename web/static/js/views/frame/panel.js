// Beside the conversation: the activity of a turn, the tool library, or the lessons; or a narrow
// rail that brings them back.

import { useLayoutEffect, useRef } from "preact/hooks";
import { lazy } from "../../lazy.js";
import { shownBranch } from "../../reducer.js";
import { alone } from "../../room.js";
import { dispatch, html, Icon, show, t } from "../../view.js";
import { Recent } from "../activity/recent.js";
import { Splitter } from "./splitter.js";
import { Tabs, tabPanel } from "../parts/tabs.js";
import { WideButton } from "./wide.js";
import { IconButton } from "../parts/controls.js";

const Activity = lazy(async () => (await import("../later.js")).Activity);
const Lessons = lazy(async () => (await import("../later.js")).Lessons);
const Library = lazy(async () => (await import("../later.js")).Library);

const ICONS = { activity: "activity", library: "book", lessons: "lamp" };

const toggle = () => dispatch({ type: "panel_toggled" });

export function Panel({ state, turn }) {
  const { panelOpen: open } = state;
  const frame = useRef(null);
  const [hideButton, showButton] = [useRef(null), useRef(null)];
  const was = useRef(open);
  useLayoutEffect(() => {
    // The focused element is gone with its half of the panel.
    const moves = was.current !== open && frame.current.contains(document.activeElement);
    if (moves) (open ? hideButton : showButton).current.focus();
    was.current = open;
  }, [open]);
  const tabs = Object.keys(ICONS).map((id) => ({
    id,
    label: t(`panel-${id}`),
    count: { library: state.tools, lessons: state.lessons }[id]?.length,
  }));
  const bodies = {
    activity: () =>
      turn
        ? html`<${Activity}
            turn=${turn}
            order=${shownBranch(state).turns.map(({ id }) => id)}
            skew=${state.skew}
            graph=${state.graph}
            feed=${state.feed}
          />`
        : html`<section class="activity" aria-label=${t("activity")} data-testid="activity">
            <div class="panel-scroller"><${Recent} tools=${state.tools} /></div>
          </section>`,
    library: () =>
      html`<${Library}
        tools=${state.tools}
        search=${state.search}
        kind=${state.kind}
        found=${state.toolsFound}
        openTool=${state.openTool}
        detail=${state.toolDetails[state.openTool]}
        versions=${state.versions[state.openTool]}
        sources=${state.versionSources}
        problem=${state.changeProblem}
      />`,
    lessons: () => html`<${Lessons} lessons=${state.lessons} />`,
  };
  return html`<div
    class="panel"
    id="panel"
    role=${alone.value ? "main" : "complementary"}
    aria-label=${t("panel-label")}
    ref=${frame}
  >
    <${Splitter} />
    <div class="panel-rail" role="group" aria-label=${t("panel-label")}>
      <${IconButton}
        icon="panelShow"
        label=${t("panel-show")}
        large
        ref=${showButton}
        data-testid="show-panel"
        aria-keyshortcuts="Control+B"
        onClick=${toggle}
      />
      ${tabs.map(
        ({ id, label }) =>
          html`<button
            key=${id}
            class="icon-button"
            data-testid=${`rail-${id}`}
            aria-label=${label}
            title=${label}
            onClick=${() => show(id)}
          >
            <${Icon} name=${ICONS[id]} />${
              id === "activity" &&
              turn?.state === "running" &&
              html`<span class="viewbar-dot" role="img" aria-label=${t("state-running")}></span>`
            }
          </button>`,
      )}
    </div>
    <div class="panel-tabs">
      <${Tabs}
        id="panel"
        label=${t("panel-tabs")}
        tabs=${tabs}
        selected=${state.panel}
        select=${(view) => show(view)}
      />
      <span class="panel-tools">
        <${WideButton} />
        <${IconButton}
          icon="panelHide"
          label=${t("panel-hide")}
          ref=${hideButton}
          data-testid="hide-panel"
          aria-keyshortcuts="Control+B"
          onClick=${toggle}
        />
      </span>
    </div>
    <div class="panel-body" ...${tabPanel("panel", state.panel)}>
      <h2 class="visually-hidden">${t(`panel-${state.panel}`)}</h2>
      ${bodies[state.panel]()}
    </div>
  </div>`;
}
