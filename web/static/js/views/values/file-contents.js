// The content of a file by its kind: a picture, a table, a notebook, JSON, Markdown, code or text.

import { useEffect, useMemo, useState } from "preact/hooks";
import { kindOf, languageOf } from "../../files.js";
import { fileSize } from "../../format.js";
import { html } from "../../html.js";
import { Loading } from "../../lazy.js";
import { loadText } from "../../loading.js";
import { Markdown } from "../../markdown.js";
import { parseExactly } from "../../results.js";
import { store } from "../../store.js";
import { t } from "../../texts.js";
import { DataFile } from "./data-file.js";
import { Notebook } from "./notebook.js";
import { Picture } from "./picture.js";
import { Source } from "./source.js";

const AT_ONCE = 512 * 1024;
const LARGEST = 32 * 1024 * 1024;

// `wide`: in a dialog of its own, where it fills the room.
export function FileContents({ file, address, wide = false }) {
  const name = file.path ?? file.name;
  const kind = kindOf(file);
  const [wanted, setWanted] = useState(wide || file.size <= AT_ONCE);
  const [source, setSource] = useState(false);
  const { projectTexts, textErrors } = store.value;
  const [loaded, problem] = [projectTexts[file.sha256], textErrors[file.sha256]];
  const readable = kind !== "picture" && kind !== "other" && file.size <= LARGEST;
  const load = () => loadText(file.sha256, address);
  useEffect(() => {
    if (readable && wanted && loaded === undefined) load();
  }, [wanted, file.sha256]);
  if (kind === "picture")
    return wide
      ? html`<${Picture} src=${address} name=${name} />`
      : html`<img class="picture" data-testid="project-picture" src=${address} alt=${name} />`;
  if (!readable)
    return html`<p class="step-note">
      ${kind === "other" ? t("file-not-text") : t("file-too-large")}
    </p>`;
  if (!wanted)
    return html`<button type="button" class="code-more" onClick=${() => setWanted(true)}>
      ${t("value-show", { size: fileSize(file.size) })}
    </button>`;
  if (problem && loaded === undefined)
    return html`<p class="step-note" role="alert">
      ${t("value-not-loaded", { message: problem.message })}${" "}<button
        type="button"
        class="button"
        onClick=${load}
      >
        ${t("try-again")}
      </button>
    </p>`;
  if (loaded === undefined) return html`<${Loading} />`;
  if (loaded.trim() === "") return html`<p class="step-note">${t("file-empty")}</p>`;
  const shown = { text: loaded, name, address, wide };
  if (!PREVIEWS[kind]) return html`<${Source} ...${shown} language=${languageOf(name)} />`;
  return html`<div class="file-view" data-kind=${kind} data-filled=${wide}>
    <div class="file-view-head"><${Views} source=${source} setSource=${setSource} /></div>
    ${
      source
        ? html`<${Source}
            ...${shown}
            language=${kind === "json" || kind === "notebook" ? "json" : languageOf(name)}
          />`
        : html`<${PREVIEWS[kind]} ...${shown} />`
    }
  </div>`;
}

const Views = ({ source, setSource }) =>
  html`<span class="switch" role="group" aria-label=${t("value-view")}
    >${[false, true].map(
      (which) =>
        html`<button
          key=${which}
          type="button"
          data-testid=${which ? "view-source" : "view-preview"}
          aria-pressed=${which === source ? "true" : "false"}
          onClick=${() => setSource(which)}
        >
          ${which ? t("view-source") : t("view-preview")}
        </button>`,
    )}</span
  >`;

const Prose = ({ text, wide }) =>
  html`<div class="file-prose" data-filled=${wide}><${Markdown} text=${text} /></div>`;

function Json(props) {
  const read = useMemo(() => {
    try {
      return { value: parseExactly(props.text) };
    } catch (error) {
      return { problem: error.message };
    }
  }, [props.text]);
  if (read.problem)
    return html`<p class="step-note" role="alert">
        ${t("file-not-json", { message: read.problem })}
      </p>
      <${Source} ...${props} language="json" />`;
  return html`<${DataFile} ...${props} value=${read.value} />`;
}

const PREVIEWS = { table: DataFile, json: Json, markdown: Prose, notebook: Notebook };
