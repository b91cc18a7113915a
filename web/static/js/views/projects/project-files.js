// The files of a project: the tabs over it, the tree, and the file that is open, to be read and edited.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { act } from "../../connection.js";
import { fileSize } from "../../format.js";
import { fileAddress, FILES, HISTORY, isChanged, isText, tree } from "../../projects.js";
import { dispatch, html, Icon, memo, t } from "../../view.js";
import { Confirm } from "../parts/confirm.js";
import { Contents } from "../values/files.js";
import { IconButton } from "../parts/controls.js";

const A_PATH = "tests/test_main.py";

const show = (tab) => dispatch({ type: "project_tab_shown", tab });
const close = (path) => dispatch({ type: "file_closed", path });
const open = (path) => dispatch({ type: "file_opened", path });

export function ProjectTabs({ tabs, files }) {
  const list = useRef(null);
  const opened = files.filter(({ path }) => tabs.open.includes(path));
  const inOrder = tabs.open
    .map((path) => opened.find((file) => file.path === path))
    .filter(Boolean);
  useEffect(() => {
    list.current
      .querySelector("[aria-current]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tabs.shown]);
  const moved = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const buttons = [...list.current.querySelectorAll(".project-tab-name")];
    const at = buttons.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    buttons.at((at + step) % buttons.length).focus();
  };
  return html`<nav class="project-tabs" aria-label=${t("project-tabs")} data-testid="project-tabs">
    <ul ref=${list} onKeyDown=${moved}>
      <${Tab} tab=${HISTORY} label=${t("project-history")} shown=${tabs.shown} />
      <${Tab}
        tab=${FILES}
        label=${t("project-files", { count: files.length })}
        shown=${tabs.shown}
      />
      ${inOrder.map(
        (file) =>
          html`<${Tab}
            key=${file.path}
            tab=${file.path}
            label=${file.path.split("/").at(-1)}
            shown=${tabs.shown}
            mark=${markOf(tabs, file)}
            closes
          />`,
      )}
    </ul>
  </nav>`;
}

function markOf(tabs, file) {
  if (file.path in tabs.edits) return t("project-unsaved");
  return isChanged(tabs, file) ? t("project-changed") : "";
}

const Tab = memo(({ tab, label, shown, mark, closes }) => {
  const pressed = (event) => {
    if (event.key !== "Delete") return;
    event.preventDefault();
    close(tab);
  };
  return html`<li class="project-tab" data-shown=${tab === shown}>
    <button
      class="project-tab-name"
      data-testid="project-tab"
      data-tab=${tab}
      title=${closes ? tab : null}
      aria-current=${tab === shown ? "page" : null}
      onClick=${() => show(tab)}
      onKeyDown=${closes ? pressed : null}
    >
      ${label}${
        mark && html`<span class="project-mark" role="img" aria-label=${mark} title=${mark}></span>`
      }
    </button>
    ${
      closes &&
      html`<${IconButton}
        icon="cross"
        label=${t("project-close-file", { path: tab })}
        data-testid="close-file"
        onClick=${() => close(tab)}
      />`
    }
  </li>`;
});

export function Tree({ id, files, shown, busy }) {
  return html`<div class="tree">
    ${
      files.length === 0
        ? html`<p class="project-figures" data-testid="no-files">${t("project-no-files")}</p>`
        : html`<nav aria-label=${t("project-tree")} data-testid="tree">
            <ul>
              ${tree(files).map(
                (row) => html`<${Row} key=${row.path} row=${row} open=${row.path === shown} />`,
              )}
            </ul>
          </nav>`
    }
    ${!busy && html`<${NewFile} id=${id} />`}
  </div>`;
}

const Row = memo(({ row: { name, path, depth, file }, open: isOpen }) => {
  const indented = { paddingLeft: `${10 + 14 * depth}px` };
  if (!file)
    return html`<li class="tree-row" style=${indented}>
      <${Icon} name="folder" /><span class="tree-label">${name}</span>
    </li>`;
  return html`<li>
    <button
      class="tree-row"
      data-testid="tree-file"
      data-path=${path}
      aria-current=${isOpen ? "true" : null}
      style=${indented}
      onClick=${() => open(path)}
    >
      <${Icon} name="file" /><span class="tree-label">${name}</span
      ><span class="file-size">${fileSize(file.size)}</span>
    </button>
  </li>`;
});

function NewFile({ id }) {
  const [path, setPath] = useState(null);
  const field = useRef(null);
  useLayoutEffect(() => field.current?.focus(), [path === null]);
  const create = async (event) => {
    event.preventDefault();
    if (!(await act(id, { action: "create_file", name: path, body: "" }))) return;
    open(path);
    setPath(null);
  };
  if (path === null)
    return html`<button class="tree-row" data-testid="new-file" onClick=${() => setPath("")}>
      <${Icon} name="plus" />${t("project-new-file")}
    </button>`;
  return html`<form
    class="new-file"
    onSubmit=${create}
    onKeyDown=${(e) => e.key === "Escape" && setPath(null)}
  >
    <input
      class="input"
      required
      spellcheck="false"
      autocomplete="off"
      aria-label=${t("project-new-path")}
      ref=${field}
      placeholder=${A_PATH}
      data-testid="new-file-path"
      value=${path}
      onInput=${(e) => setPath(e.target.value)}
    />
  </form>`;
}

// `edit` is the unsaved text, and the hash of what it was made of; null if there is none.
export function OpenFile({ id, file, text, edit, busy }) {
  const { path } = file;
  const keep = (changed) => dispatch({ type: "file_edited", path, edit: changed });
  const write = (changed) => keep({ text: changed, base: edit?.base ?? file.sha256 });
  const save = async (event) => {
    event.preventDefault();
    if (await act(id, { action: "write_file", name: path, body: edit.text })) keep(null);
  };
  return html`<section
    class="open-file"
    aria-label=${path}
    data-testid="open-file"
    data-path=${path}
  >
    <div class="open-file-head">
      <h3 class="open-file-name">${path}</h3>
      <span class="file-size">${fileSize(file.size)}</span>
      ${
        !busy &&
        isText(file) &&
        text != null &&
        !edit &&
        html`<button class="button quiet" data-testid="edit-file" onClick=${() => write(text)}>
          <${Icon} name="pencil" />${t("project-edit")}
        </button>`
      }
      <${IconButton}
        icon="download"
        label=${t("project-download-file", { path })}
        href=${`${fileAddress(id, file)}&download`}
        download
      />
      ${
        !busy &&
        !edit &&
        html`<${Confirm}
          testid="delete-file"
          label=${t("project-delete-file")}
          question=${t("project-delete-file-question", { path })}
          act=${() => act(id, { action: "delete_file", name: path })}
        />`
      }
    </div>
    ${
      edit
        ? html`<form
            class="project-form"
            onSubmit=${save}
            onKeyDown=${(e) => e.key === "Escape" && keep(null)}
          >
            ${
              edit.base !== file.sha256 &&
              html`<p class="callout" data-tone="warn">
                <${Icon} name="alert" /><span>${t("project-edit-conflict")}</span>
              </p>`
            }
            <textarea
              class="input editor"
              rows=${Math.min(28, edit.text.split("\n").length + 2)}
              spellcheck="false"
              aria-label=${t("project-editor", { path })}
              data-testid="editor"
              value=${edit.text}
              onInput=${(e) => write(e.target.value)}
            ></textarea>
            <div class="form-actions">
              <button
                type="submit"
                class="button primary"
                data-testid="save-file"
                disabled=${busy || edit.text === text}
              >
                ${t("project-save")}
              </button>
              <button class="button quiet" onClick=${() => keep(null)}>
                ${t("project-cancel")}
              </button>
            </div>
          </form>`
        : html`<${Contents} id=${id} file=${file} />`
    }
  </section>`;
}
