// Actions on a project that need confirmation: a menu, and the dialogs.

import { useState } from "preact/hooks";
import { deleteProject } from "../../api.js";
import { restoreBackup } from "../../connection.js";
import { fileSize, moment } from "../../format.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { Dialog } from "../parts/dialog.js";
import { Menu, MenuItem } from "../parts/menu.js";

export function ProjectMenu({ project, backups }) {
  const [asking, ask] = useState(null); // restore, delete
  const item = (what, icon, label) =>
    html`<${MenuItem}
      icon=${icon}
      label=${label}
      data-testid=${`${what}-project`}
      act=${() => ask(what)}
    />`;
  const close = () => ask(null);
  return html`<${Menu}
      id="project-menu"
      testid="project-more"
      label=${t("project-more", { name: project.name })}
      large
    >
      ${backups.length > 0 && item("restore", "again", t("project-restore"))}
      ${item("delete", "trash", t("project-delete"))}
    <//>
    ${asking === "restore" && html`<${Restore} project=${project} backups=${backups} close=${close} />`}
    ${asking === "delete" && html`<${Removal} project=${project} close=${close} />`}`;
}

function Restore({ project: { id, name }, backups, close }) {
  const restore = (number) => {
    close(); // the turn, or a notice, says what came of it
    restoreBackup(id, number);
  };
  return html`<${Dialog}
    kind="project-dialog"
    title=${t("project-restore-title", { name })}
    testid="backups"
    close=${close}
  >
    <p class="project-figures">${t("project-restore-text")}</p>
    <ol class="backups">
      ${backups.map(
        ({ number, at, size }) =>
          html`<li key=${number} class="backup">
            <span class="backup-name">${t("project-backup", { number: String(number) })}</span
            ><time class="time" datetime=${at}>${moment(at)}</time
            ><span class="file-size">${fileSize(size)}</span>
            <button
              class="button"
              data-testid=${`restore-${number}`}
              aria-label=${t("project-restore-number", { number: String(number) })}
              onClick=${() => restore(number)}
            >
              ${t("project-restore-it")}
            </button>
          </li>`,
      )}
    </ol>
  <//>`;
}

function Removal({ project: { id, name }, close }) {
  const remove = async () => {
    try {
      await deleteProject(id);
      dispatch({ type: "project_deleted", id });
    } catch (error) {
      close();
      const message = t("project-not-deleted", { name, reason: error.message });
      dispatch({ ...error, type: "noticed", message });
    }
  };
  return html`<${Dialog}
    kind="project-dialog"
    title=${t("project-delete-title", { name })}
    testid="project-removal"
    close=${close}
  >
    <p>${t("project-delete-text")}</p>
    <div class="form-actions">
      <button class="button danger" data-testid="delete-project-yes" onClick=${remove}>
        <${Icon} name="trash" />${t("project-delete-yes")}
      </button>
      <button class="button quiet" onClick=${close}>${t("project-cancel")}</button>
    </div>
  <//>`;
}
