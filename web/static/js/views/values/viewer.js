// What has more room in a dialog over the whole page: a file, a picture, a long value.

import { useLayoutEffect, useRef } from "preact/hooks";
import { fileSize } from "../../format.js";
import { html, t } from "../../view.js";
import { FileContents } from "./file-contents.js";
import { IconButton } from "../parts/controls.js";

// `tools` stand in the head, before the button that closes.
export function Viewer({ title, note, tools, close, children }) {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    dialog.current.showModal();
    return () => dialog.current?.close();
  }, []);
  const pressed = (event) => event.target === dialog.current && dialog.current.close();
  return html`<dialog
    class="viewer"
    data-testid="viewer"
    aria-label=${title}
    ref=${dialog}
    onClose=${close}
    onClick=${pressed}
    onKeyDown=${(e) => e.stopPropagation()}
  >
    <div class="viewer-head">
      <h2 class="viewer-title">${title}</h2>
      ${note && html`<span class="file-size">${note}</span>`}
      <span class="viewer-tools"
        >${tools}
        <${IconButton}
          icon="cross"
          label=${t("close")}
          large
          data-testid="close-viewer"
          onClick=${() => dialog.current.close()}
        />
      </span>
    </div>
    <div class="viewer-body">${children}</div>
  </dialog>`;
}

// One of several files; the arrow keys go to the others. `addressOf` gives the address of a file.
export function FileViewer({ files, index, choose, addressOf, close }) {
  const file = files[index];
  const go = (step) => choose((index + step + files.length) % files.length);
  const turn = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const elsewhere = event.target.closest(
      "input, select, textarea, [role=tree], .table-scroll, pre, .zoom",
    );
    if (step && !elsewhere && files.length > 1) go(step);
  };
  const tools = html`${
      files.length > 1 &&
      html`<${IconButton}
          icon="chevronLeft"
          label=${t("file-before")}
          large
          onClick=${() => go(-1)}
        />
        <span class="file-size">${t("file-of", { index: index + 1, count: files.length })}</span>
        <${IconButton} icon="chevronRight" label=${t("file-after")} large onClick=${() => go(1)} />`
    }
    <${IconButton}
      icon="download"
      label=${t("file-download", { name: file.name })}
      large
      data-testid="download-file"
      href=${`${addressOf(file)}?download`}
      download=${file.name}
    />`;
  return html`<${Viewer} title=${file.name} note=${fileSize(file.size)} ...${{ tools, close }}>
    <div class="viewer-file" onKeyDown=${turn}>
      <${FileContents} key=${file.sha256} file=${file} address=${addressOf(file)} wide />
    </div>
  <//>`;
}
