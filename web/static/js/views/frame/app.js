// The page as a whole.

import { lazy } from "../../lazy.js";
import { NEW_PROJECT, openProject } from "../../projects.js";
import { currentThread, pendingOf, shownTurn } from "../../reducer.js";
import { isBusy } from "../../thread.js";
import { dispatch, html, memo, store, t } from "../../view.js";
import { Banner, SettingUp } from "./banner.js";
import { Chat } from "../chat/chat.js";
import { Header } from "./header.js";
import { Palette } from "./palette.js";
import { Panel } from "./panel.js";
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
      <${Panel} state=${state} turn=${shownTurn(state)} />
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

// The live region: announces politely what happened, for screen readers. Two alternating regions, so that the same
// sentence twice is still a change.
const Announcer = memo(({ announcement: { number, text } }) => {
  const shown = (parity) => (number % 2 === parity ? text : "");
  return html`<div class="visually-hidden" data-testid="announcer">
    <div role="status" aria-live="polite">${shown(0)}</div>
    <div role="status" aria-live="polite">${shown(1)}</div>
  </div>`;
});
