// Files: chips in the composer, links in a turn, and pictures shown in place.

import { fileSize } from "../format.js";
import { addressOf, isPicture } from "../files.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { dispatch } from "../store.js";

export function AttachedFiles({ files }) {
  return html`<ul class="files attached" aria-label="Attached files">
    ${files.map(
      (file) => html`<li class="file" key=${file.key} data-testid="attached-file">
        <${Icon} name="file" /><span class="file-name">${file.name}</span><span class="file-size">${fileSize(file.size)}</span>
        <button type="button" class="icon-button small" data-testid="remove-file" aria-label=${`Remove ${file.name}`}
          onClick=${() => dispatch({ type: "file_detached", key: file.key })}><${Icon} name="cross" /></button>
      </li>`,
    )}
  </ul>`;
}

// Files without an address yet are only named.
export function RequestFiles({ files, conversationId }) {
  if (files.length === 0) return null;
  return html`<ul class="files sent" aria-label="Files of the request">
    ${files.map((file) => html`<li key=${file.name} data-testid="request-file">${file.sha256 ? html`<${Download} file=${file} conversationId=${conversationId} icon="file" />` : html`<span class="file"><${Icon} name="file" /><span class="file-name">${file.name}</span></span>`}</li>`)}
  </ul>`;
}

export function MadeFiles({ files, conversationId }) {
  if (files.length === 0) return null;
  return html`<ul class="made" aria-label="Files that the tool made" data-testid="made-files">
    ${files.map(
      (file, i) => html`<li key=${`${i} ${file.sha256}`}>
      ${isPicture(file) && html`<img class="picture" data-testid="made-picture" src=${addressOf(conversationId, file)} alt=${file.name} />`}
      <${Download} file=${file} conversationId=${conversationId} icon="download" />
    </li>`,
    )}
  </ul>`;
}

function Download({ file, conversationId, icon }) {
  return html`<a class="file" data-testid="file-link" href=${`${addressOf(conversationId, file)}?download`} download=${file.name}>
    <${Icon} name=${icon} /><span class="file-name">${file.name}</span><span class="file-size">${fileSize(file.size)}</span>
  </a>`;
}
