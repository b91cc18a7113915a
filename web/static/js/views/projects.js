// The list of projects, and the form for a new one.

import { useState } from "preact/hooks";
import { date, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { Icon, StateIcon } from "../icons.js";
import { memo } from "../memo.js";
import { STATUS } from "../projects.js";
import { openConversation } from "../route.js";
import { NewProject } from "./project-form.js";

export const Projects = memo(({ projects, openId, offline }) => {
  const [wanted, setWanted] = useState(false);
  const none = projects?.length === 0;
  const form = wanted || none;
  return html`<section class="projects" aria-label="Projects" data-testid="projects">
    <div class="panel-scroller" tabindex="0" role="region" aria-label="All projects">
      ${none && html`<${NoProjects} />`}
      ${projects && !form && html`<button type="button" class="button new-project" data-testid="new-project" onClick=${() => setWanted(true)}><${Icon} name="plus" />New project</button>`}
      ${projects && form && html`<${NewProject} offline=${offline} close=${none ? null : () => setWanted(false)} />`}
      ${!projects && html`<div class="nothing"><span class="spinner" role="img" aria-label="Loading"></span></div>`}
      <ul class="project-list">${(projects ?? []).map((project) => html`<${ProjectRow} key=${project.id} project=${project} open=${project.id === openId} />`)}</ul>
    </div>
  </section>`;
});

const ProjectRow = memo(({ project: { id, name, goal, status, created_at: createdAt }, open }) => {
  const state = STATUS[status];
  return html`<li>
    <button type="button" class="tool-row" data-testid="project-row" data-status=${status} aria-current=${open ? "true" : null} onClick=${() => openConversation(id)}>
      <span class="tool-row-head"><span class="tool-row-name">${name}</span><span class="state" data-state=${state}><${StateIcon} state=${state} />${STATE_WORDS[state]}</span><span class="tool-row-uses">${date(createdAt)}</span></span>
      <span class="tool-row-description">${goal}</span>
    </button>
  </li>`;
});

function NoProjects() {
  return html`<div class="nothing project-nothing">
    <${Icon} name="folder" />
    <p class="nothing-title">No projects yet</p>
    <p>A project is a folder of Python files that the model builds towards a goal, step by step, tested in the sandbox.</p>
  </div>`;
}
