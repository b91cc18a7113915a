// The page as a whole.

import { html } from "../../html.js";
import { lazy } from "../../lazy.js";
import { NEW_PROJECT, openProject } from "../../projects.js";
import { currentThread, pendingOf, shownTurn } from "../../reducer.js";
import { dispatch, store } from "../../store.js";
import { t } from "../../texts.js";
import { isBusy } from "../../thread.js";
import { Announcer } from "./announcer.js";
import { Banner } from "./banner.js";
import { Chat } from "../chat/chat.js";
import { Header } from "./header.js";
import { Palette } from "./palette.js";
import { Panel } from "./panel.js";
import { SettingUp } from "./setting-up.js";
import { Shortcuts } from "./shortcuts.js";
import { Sidebar } from "./sidebar.js";
import { ViewBar } from "./viewbar.js";

const NewProject = lazy(async () => (await import("../later.js")).NewProject);
const Project = lazy(async () => (await import("../later.js")).Project);
const Settings = lazy(async () => (await import("../later.js")).Settings);
const Share = lazy(async () => (await import("../later.js")).Share);

function middle(state, project, thread) {
  if (project) return html`<${Project} state=${state} project=${project} thread=${thread} />`;
  if (state.conversationId === NEW_PROJECT)
    return html`<${NewProject}
      goal=${state.draft}
      offline=${state.health?.model?.offline ?? true}
    />`;
  return html`<${Chat} state=${state} thread=${thread} pending=${pendingOf(state)} />`;
}

const runningIn = (threads) =>
  Object.keys(threads)
    .filter((id) => isBusy(threads[id]))
    .join(" ");

export function App() {
  const state = store.value;
  const thread = currentThread(state);
  const project = openProject(state);
  return html`<div class="page" data-view=${state.view} data-wide=${state.wide}>
    <button
      type="button"
      class="button skip"
      data-testid="skip"
      onClick=${() => dispatch({ type: "composer_wanted" })}
    >
      ${t("page-skip")}
    </button>
    <${Header} health=${state.health} tools=${state.tools} />
    <div>
      <${Banner} connection=${state.connection} notice=${state.notice} />
      <${SettingUp} unready=${state.health?.unready} />
    </div>
    <div class="columns">
      <${Sidebar}
        conversations=${state.conversations}
        projects=${state.projects}
        running=${runningIn(state.threads)}
        conversationId=${state.conversationId}
        search=${state.conversationSearch}
        deleted=${state.deleted}
      />
      ${middle(state, project, thread)}
      <${Panel} state=${state} thread=${thread} turn=${shownTurn(state)} />
    </div>
    <${ViewBar}
      view=${state.view}
      running=${shownTurn(state)?.state === "running"}
      project=${project !== null}
    />
    <${Shortcuts} />
    ${state.palette && html`<${Palette} />`}
    ${
      state.sharing &&
      html`<${Share}
        key=${state.sharing.id}
        sharing=${state.sharing}
        title=${state.conversations.find(({ id }) => id === state.sharing.id)?.title}
      />`
    }
    ${state.settings && html`<${Settings} settings=${state.settings} />`}
    <${Announcer} announcement=${state.announcement} />
  </div>`;
}
