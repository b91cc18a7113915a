// Beside the conversation: the activity of a turn, the tool library, the projects, or the lessons.

import { html } from "../html.js";
import { dispatch } from "../store.js";
import { Activity } from "./activity.js";
import { Library } from "./library.js";
import { Lessons } from "./lessons.js";
import { Projects } from "./projects.js";
import { Tabs, tabPanel } from "./tabs.js";

export function Panel({ state, thread, turn }) {
  const tabs = [
    { id: "activity", label: "Activity" },
    { id: "library", label: "Library", count: state.tools?.length },
    { id: "projects", label: "Projects", count: state.projects?.length },
    { id: "lessons", label: "Lessons", count: state.lessons?.length },
  ];
  const bodies = {
    activity: () =>
      html`<${Activity} turn=${turn} order=${thread.order} skew=${state.skew} graph=${state.graph} />`,
    library:
      () => html`<${Library} tools=${state.tools} search=${state.search} openTool=${state.openTool} detail=${state.toolDetails[state.openTool]}
      versions=${state.versions[state.openTool]} sources=${state.versionSources} problem=${state.changeProblem} showRetired=${state.showRetired} />`,
    lessons: () => html`<${Lessons} lessons=${state.lessons} />`,
    projects: () =>
      html`<${Projects} projects=${state.projects} openId=${state.conversationId} offline=${state.health?.model.offline} />`,
  };
  return html`<aside class="panel" aria-label="Activity, library, projects and lessons">
    <div class="panel-tabs"><${Tabs} id="panel" label="Beside the conversation" tabs=${tabs} selected=${state.panel} select=${(view) => dispatch({ type: "view_selected", view })} /></div>
    <div class="panel-body" ...${tabPanel("panel", state.panel)}>${bodies[state.panel]()}</div>
  </aside>`;
}
