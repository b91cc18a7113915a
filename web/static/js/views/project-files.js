// The files of a project: the tree, and the file that is open, to be read and edited.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { act } from "../connection.js";
import { fileSize } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { fileAddress, isText, tree } from "../projects.js";
import { dispatch } from "../store.js";
import { Confirm } from "./confirm.js";
import { Contents } from "./contents.js";

export function ProjectFiles({ id, files, file, texts, busy }) {
  const added = !busy && html`<${NewFile} id=${id} />`;
  if (files.length === 0)
    return html`<div><p class="project-figures" data-testid="no-files">There are no files yet.</p>${added}</div>`;
  return html`<div class="project-files">
    <div class="tree">
      <nav aria-label="Files" data-testid="tree"><ul>${tree(files).map((row) => html`<${Row} key=${row.path} row=${row} open=${row.path === file?.path} />`)}</ul></nav>
      ${added}
    </div>
    <${OpenFile} key=${file.path} id=${id} file=${file} text=${texts[file.sha256]} busy=${busy} />
  </div>`;
}

const Row = memo(({ row: { name, path, depth, file }, open }) => {
  const indented = { paddingLeft: `${10 + 14 * depth}px` };
  if (!file)
    return html`<li class="tree-row" style=${indented}><${Icon} name="folder" /><span class="tree-name">${name}</span></li>`;
  return html`<li><button type="button" class="tree-row" data-testid="tree-file" data-path=${path} aria-current=${open ? "true" : null} style=${indented} onClick=${() => dispatch({ type: "file_opened", path })}><${Icon} name="file" /><span class="tree-name">${name}</span></button></li>`;
});

function NewFile({ id }) {
  const [path, setPath] = useState(null);
  const field = useRef(null);
  useLayoutEffect(() => field.current?.focus(), [path === null]);
  const create = async (event) => {
    event.preventDefault();
    if (!(await act(id, { action: "create_file", name: path, body: "" }))) return;
    dispatch({ type: "file_opened", path });
    setPath(null);
  };
  if (path === null)
    return html`<button type="button" class="tree-row" data-testid="new-file" onClick=${() => setPath("")}><${Icon} name="plus" />New file</button>`;
  return html`<form class="new-file" onSubmit=${create} onKeyDown=${(e) => e.key === "Escape" && setPath(null)}>
    <input class="input" required spellcheck="false" autocomplete="off" aria-label="Path of the new file" ref=${field} placeholder="tests/test_main.py" data-testid="new-file-path" value=${path} onInput=${(e) => setPath(e.target.value)} />
  </form>`;
}

function OpenFile({ id, file, text, busy }) {
  const [draft, setDraft] = useState(null);
  useEffect(() => setDraft(null), [file.sha256]);
  const save = async (event) => {
    event.preventDefault();
    if (await act(id, { action: "write_file", name: file.path, body: draft })) setDraft(null);
  };
  return html`<section class="open-file" aria-label=${file.path} data-testid="open-file" data-path=${file.path}>
    <div class="open-file-head">
      <h3 class="open-file-name">${file.path}</h3><span class="file-size">${fileSize(file.size)}</span>
      ${!busy && isText(file) && text != null && draft === null && html`<button type="button" class="text-button" data-testid="edit-file" onClick=${() => setDraft(text)}>Edit</button>`}
      <a class="text-button" href=${`${fileAddress(id, file)}&download`} download aria-label=${`Download ${file.path}`}><${Icon} name="download" /></a>
    </div>
    ${
      draft === null
        ? html`<${Contents} id=${id} file=${file} />`
        : html`<form class="project-form" onSubmit=${save} onKeyDown=${(e) => e.key === "Escape" && setDraft(null)}>
      <textarea class="input editor" rows=${Math.min(28, draft.split("\n").length + 2)} spellcheck="false" aria-label=${`Text of ${file.path}`} data-testid="editor" value=${draft} onInput=${(e) => setDraft(e.target.value)}></textarea>
      <div class="form-actions">
        <button type="submit" class="button primary" data-testid="save-file" disabled=${busy || draft === text}>Save</button>
        <button type="button" class="button quiet" onClick=${() => setDraft(null)}>Cancel</button>
      </div>
    </form>`
    }
    ${!busy && draft === null && html`<${Confirm} testid="delete-file" label="Delete the file" question=${`Delete ${file.path}? A backup is kept.`} act=${() => act(id, { action: "delete_file", name: file.path })} />`}
  </section>`;
}
