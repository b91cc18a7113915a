// Files: chips in the composer and in a turn, and previews of those that a tool made; what can be shown opens wide.

import { useEffect, useRef, useState } from "preact/hooks";
import { LONGEST_REQUEST } from "../../drafts.js";
import { addressOf, isPicture, kindOf } from "../../files.js";
import { fileSize } from "../../format.js";
import { lazy } from "../../lazy.js";
import { fileAddress } from "../../projects.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";

const FileViewer = lazy(async () => (await import("./rich.js")).FileViewer);
const FileContents = lazy(async () => (await import("./rich.js")).FileContents);

// The content of a project's file.
export const Contents = ({ id, file }) =>
  html`<${FileContents} key=${file.sha256} file=${file} address=${fileAddress(id, file)} />`;

// Kinds of files that are shown in place; a larger one is only a chip.
const PREVIEWED = new Set(["table", "json", "markdown", "text", "code"]);
const LARGEST_PREVIEW = 512 * 1024;

export function AttachedFiles({ files, draft }) {
  return html`<ul class="files attached" aria-label=${t("files-attached")}>
    ${files.map(
      (file) =>
        html`<li class="file" key=${file.key} data-testid="attached-file">
          <${Icon} name="file" /><span class="file-name">${file.name}</span
          ><span class="file-size">${fileSize(file.size)}</span>
          ${
            file.text &&
            draft.length + file.text.length < LONGEST_REQUEST &&
            html`<button
              class="text-button"
              data-testid="file-as-text"
              onClick=${() => dispatch({ type: "file_put_into_text", key: file.key })}
            >
              ${t("files-as-text")}
            </button>`
          }
          <${IconButton}
            icon="cross"
            label=${t("files-remove", { name: file.name })}
            data-testid="remove-file"
            onClick=${() => dispatch({ type: "file_detached", key: file.key })}
          />
        </li>`,
    )}
  </ul>`;
}

// Files without an address yet are only named.
export function RequestFiles({ files, conversationId }) {
  const [open, setOpen] = useState(null);
  if (files.length === 0) return null;
  return html`<ul class="files sent" aria-label=${t("files-of-request")}>
      ${files.map(
        (file, i) =>
          html`<li key=${file.name} data-testid="request-file">
            ${
              file.sha256
                ? html`<${Chip}
                    file=${file}
                    address=${addressOf(conversationId, file)}
                    open=${() => setOpen(i)}
                  />`
                : html`<span class="file"
                    ><${Icon} name="file" /><span class="file-name">${file.name}</span></span
                  >`
            }
          </li>`,
      )}
    </ul>
    ${viewing(files, conversationId, open, setOpen)}`;
}

// The file that is open, if any: `open` is its place in `files`, or null.
const viewing = (files, conversationId, open, setOpen) =>
  open !== null &&
  html`<${Viewing}
    ...${{ files, conversationId }}
    index=${open}
    choose=${setOpen}
    close=${() => setOpen(null)}
  />`;

export function MadeFiles({ files, conversationId }) {
  const [open, setOpen] = useState(null);
  if (files.length === 0) return null;
  return html`<ul class="made" aria-label=${t("files-made")} data-testid="made-files">
      ${files.map(
        (file, i) =>
          html`<li key=${`${i} ${file.sha256}`}>
            ${
              isPicture(file) &&
              html`<button
                class="picture-open"
                data-testid="open-picture"
                aria-label=${t("file-open", { name: file.name })}
                onClick=${() => setOpen(i)}
              >
                <img
                  class="picture"
                  data-testid="made-picture"
                  loading="lazy"
                  src=${addressOf(conversationId, file)}
                  alt=${file.name}
                />
              </button>`
            }
            ${
              PREVIEWED.has(kindOf(file)) &&
              file.size <= LARGEST_PREVIEW &&
              html`<${Preview} file=${file} address=${addressOf(conversationId, file)} />`
            }
            <${Chip}
              file=${file}
              address=${addressOf(conversationId, file)}
              open=${() => setOpen(i)}
            />
          </li>`,
      )}
    </ul>
    ${viewing(files, conversationId, open, setOpen)}`;
}

// The content of a file, fetched when it comes near the view.
function Preview(props) {
  const place = useRef(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const seen = (entries) => entries.some((entry) => entry.isIntersecting) && setNear(true);
    const observer = new IntersectionObserver(seen, { rootMargin: "400px" });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return html`<div class="made-preview" data-testid="made-preview" ref=${place}>
    ${near && html`<${FileContents} ...${props} />`}
  </div>`;
}

const Viewing = ({ conversationId, ...props }) =>
  html`<${FileViewer} ...${props} addressOf=${(file) => addressOf(conversationId, file)} />`;

// A file that can be shown opens; any other is only downloaded.
function Chip({ file, address, open }) {
  const words = html`<span class="file-name">${file.name}</span
    ><span class="file-size">${fileSize(file.size)}</span>`;
  const link = { href: `${address}?download`, download: file.name, "data-testid": "file-link" };
  if (kindOf(file) === "other")
    return html`<a class="file" ...${link} title=${t("file-download", { name: file.name })}
      ><${Icon} name="download" />${words}</a
    >`;
  return html`<span class="file">
    <button class="file-open" data-testid="open-file-wide" onClick=${open}>
      <${Icon} name=${ICONS[kindOf(file)] ?? "file"} />${words}
    </button>
    <${IconButton} icon="download" label=${t("file-download", { name: file.name })} ...${link} />
  </span>`;
}

const ICONS = { table: "table", code: "code", json: "code", notebook: "book", picture: "open" };
