// Beside the conversation: the activity of a turn, or the tool library.

import { html } from "../html.js";
import { dispatch } from "../store.js";
import { Activity } from "./activity.js";
import { Library } from "./library.js";
import { Tabs, tabPanel } from "./tabs.js";

export function Panel({ state, thread, turn }) {
  const tabs = [{ id: "activity", label: "Activity" }, { id: "library", label: "Library", count: state.tools?.length }];
  const body =
    state.panel === "activity"
      ? html`<${Activity} turn=${turn} order=${thread.order} skew=${state.skew} />`
      : html`<${Library} tools=${state.tools} search=${state.search} openTool=${state.openTool} detail=${state.toolDetails[state.openTool]}
          versions=${state.versions[state.openTool]} sources=${state.versionSources} problem=${state.changeProblem} showRetired=${state.showRetired} />`;
  return html`<aside class="panel" aria-label="Activity and library">
    <div class="panel-tabs"><${Tabs} id="panel" label="Beside the conversation" tabs=${tabs} selected=${state.panel} select=${(view) => dispatch({ type: "view_selected", view })} /></div>
    <div class="panel-body" ...${tabPanel("panel", state.panel)}>${body}</div>
  </aside>`;
}
