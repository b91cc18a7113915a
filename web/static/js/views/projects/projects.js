// The projects in the list at the side: links with their state, and the way to a new one.

import { useState } from "preact/hooks";
import { listedProjects, NEW_PROJECT, STATUS } from "../../projects.js";
import { html, Icon, memo, t } from "../../view.js";
import { IconButton, State } from "../parts/controls.js";

const AT_FIRST = 5;

// `go` opens what has that id.
export const Projects = memo(({ projects, openId, text, go }) => {
  const [all, showAll] = useState(false);
  const found = listedProjects(projects ?? [], text);
  const shown = all || text.trim() ? found : found.slice(0, AT_FIRST);
  if (text.trim() && found.length === 0) return null;
  return html`<section class="projects" aria-label=${t("projects")} data-testid="projects">
    <div class="projects-head">
      <h2 class="eyebrow">${t("projects")}</h2>
      <${IconButton}
        icon="plus"
        label=${t("project-new")}
        href=${`#${NEW_PROJECT}`}
        data-testid="new-project"
        aria-current=${openId === NEW_PROJECT ? "page" : null}
        onClick=${followed(NEW_PROJECT, go)}
      />
    </div>
    <ul class="conversation-list">
      ${shown.map(
        (project) =>
          html`<${ProjectRow}
            key=${project.id}
            ...${{ project, go }}
            open=${project.id === openId}
          />`,
      )}
    </ul>
    ${
      found.length > shown.length &&
      html`<button class="text-button projects-more" onClick=${() => showAll(true)}>
        ${t("projects-all", { count: found.length })}
      </button>`
    }
    ${
      all &&
      !text.trim() &&
      found.length > AT_FIRST &&
      html`<button class="text-button projects-more" onClick=${() => showAll(false)}>
        ${t("projects-fewer")}
      </button>`
    }
  </section>`;
});

const followed = (id, go) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(id);
};

const ProjectRow = memo(({ project: { id, name, goal, status }, open, go }) => {
  const state = STATUS[status];
  return html`<li class="conversation-row">
    <a
      class="conversation"
      href=${`#${encodeURIComponent(id)}`}
      title=${goal}
      data-testid="project-row"
      data-status=${status}
      aria-current=${open ? "page" : null}
      onClick=${followed(id, go)}
    >
      <${Icon} name="folder" /><span class="conversation-title">${name}</span>
      ${state !== "done" && html`<${State} state=${state} silent />`}
    </a>
  </li>`;
});
