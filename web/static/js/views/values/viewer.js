// A dialog over the whole page for a file, a picture or a long value.

import { fileSize } from "../../format.js";
import { html, t } from "../../view.js";
import { FileContents } from "./file-contents.js";
import { IconButton } from "../parts/controls.js";
import { Dialog } from "../parts/dialog.js";

export const Viewer = ({ children, ...more }) =>
  html`<${Dialog} kind="viewer" testid="viewer" ...${more}>
    <div class="viewer-body">${children}</div>
  <//>`;

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
      html`<${IconButton} icon="chevronLeft" label=${t("file-before")} onClick=${() => go(-1)} />
        <span class="file-size">${t("file-of", { index: index + 1, count: files.length })}</span>
        <${IconButton} icon="chevronRight" label=${t("file-after")} onClick=${() => go(1)} />`
    }
    <${IconButton}
      icon="download"
      label=${t("file-download", { name: file.name })}
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
