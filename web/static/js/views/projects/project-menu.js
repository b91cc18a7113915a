// What can't be done lightly to a project: a menu, and the dialogs that ask.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { deleteProject } from "../../api.js";
import { restoreBackup } from "../../connection.js";
import { fileSize, moment } from "../../format.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";
import { move, place } from "../frame/conversation-menu.js";

export function ProjectMenu({ project, backups }) {
  const [asking, ask] = useState(null); // restore, delete
  const [button, menu] = [useRef(null), useRef(null)];
  const toggled = ({ newState }) => {
    if (!menu.current) return; // the event comes later than what it tells of
    if (newState === "open") place(menu.current, button.current);
    else if (menu.current.contains(document.activeElement)) button.current.focus();
  };
  const item = (what, icon, label) =>
    html`<button
      type="button"
      role="menuitem"
      tabindex="-1"
      class="menu-item"
      data-testid=${`${what}-project`}
      onClick=${() => choose(what)}
    >
      <${Icon} name=${icon} />${label}
    </button>`;
  const choose = (what) => {
    menu.current.hidePopover();
    ask(what);
  };
  const done = () => {
    ask(null);
    button.current?.focus(); // a restore hides the menu while it runs
  };
  return html`<button
      type="button"
      class="icon-button"
      ref=${button}
      popovertarget="project-menu"
      aria-haspopup="menu"
      data-testid="project-more"
      aria-label=${t("project-more", { name: project.name })}
    >
      <${Icon} name="more" />
    </button>
    <div
      class="menu"
      id="project-menu"
      popover="auto"
      role="menu"
      aria-label=${t("project-more", { name: project.name })}
      ref=${menu}
      onToggle=${toggled}
      onKeyDown=${move}
    >
      ${backups.length > 0 && item("restore", "again", t("project-restore"))}
      ${item("delete", "trash", t("project-delete"))}
    </div>
    ${
      asking === "restore" &&
      html`<${Restore} project=${project} backups=${backups} close=${done} />`
    }
    ${asking === "delete" && html`<${Removal} project=${project} close=${done} />`}`;
}

function Dialog({ title, testid, close, children }) {
  const dialog = useRef(null);
  useLayoutEffect(() => dialog.current.showModal(), []);
  return html`<dialog
    class="dialog project-dialog"
    ref=${dialog}
    data-testid=${testid}
    aria-labelledby="project-dialog-title"
    closedby="any"
    onClose=${close}
  >
    <div class="dialog-head">
      <h2 class="popover-title" id="project-dialog-title">${title}</h2>
      <button
        type="button"
        class="icon-button small"
        aria-label=${t("project-cancel")}
        onClick=${() => dialog.current.close()}
      >
        <${Icon} name="cross" />
      </button>
    </div>
    ${children}
  </dialog>`;
}

function Restore({ project: { id, name }, backups, close }) {
  const restore = (number) => {
    close(); // the turn, or a notice, says what came of it
    restoreBackup(id, number);
  };
  return html`<${Dialog}
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
              type="button"
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
      dispatch({ type: "noticed", message, remedy: error.remedy ?? "" });
    }
  };
  return html`<${Dialog}
    title=${t("project-delete-title", { name })}
    testid="project-removal"
    close=${close}
  >
    <p>${t("project-delete-text")}</p>
    <div class="form-actions">
      <button
        type="button"
        class="button danger"
        data-testid="delete-project-yes"
        onClick=${remove}
      >
        <${Icon} name="trash" />${t("project-delete-yes")}
      </button>
      <button type="button" class="button quiet" onClick=${close}>${t("project-cancel")}</button>
    </div>
  <//>`;
}
