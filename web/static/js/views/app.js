// The page as a whole.

import { html } from "../html.js";
import { openProject } from "../projects.js";
import { currentThread, pendingOf, shownTurn } from "../reducer.js";
import { store } from "../store.js";
import { Announcer } from "./announcer.js";
import { Banner } from "./banner.js";
import { Chat } from "./chat.js";
import { Header } from "./header.js";
import { Panel } from "./panel.js";
import { Project } from "./project.js";
import { SettingUp } from "./setting-up.js";
import { Shortcuts } from "./shortcuts.js";
import { Sidebar } from "./sidebar.js";
import { ViewBar } from "./viewbar.js";

export function App() {
  const state = store.value;
  const thread = currentThread(state);
  const project = openProject(state);
  return html`<div class="page" data-view=${state.view}>
    <${Header} health=${state.health} tools=${state.tools} />
    <div>
      <${Banner} connection=${state.connection} notice=${state.notice} />
      <${SettingUp} unready=${state.health?.unready} />
    </div>
    <div class="columns">
      <${Sidebar} conversations=${state.conversations} threads=${state.threads} conversationId=${state.conversationId} search=${state.conversationSearch} deleted=${state.deleted} />
      ${project ? html`<${Project} state=${state} project=${project} thread=${thread} />` : html`<${Chat} state=${state} thread=${thread} pending=${pendingOf(state)} />`}
      <${Panel} state=${state} thread=${thread} turn=${shownTurn(state)} />
    </div>
    <${ViewBar} view=${state.view} running=${shownTurn(state)?.state === "running"} project=${project !== null} />
    <${Shortcuts} />
    <${Announcer} announcement=${state.announcement} />
  </div>`;
}
