// The content of a file by its kind: a picture, a table, a notebook, JSON, Markdown, code or text.

import { useEffect, useMemo, useState } from "preact/hooks";
import { kindOf, languageOf } from "../../files.js";
import { OnDemand } from "../../lazy.js";
import { loadText } from "../../loading.js";
import { Markdown } from "../../markdown.js";
import { parseExactly, tableOf } from "../../results.js";
import { html, store, t } from "../../view.js";
import { Notebook } from "./notebook.js";
import { Picture } from "./picture.js";
import { Switch } from "../parts/controls.js";
import { learn } from "../../languages.js";
import { CodeBlock } from "./code.js";
import { FoldedText } from "./folded-text.js";
import { typed } from "../../charts.js";
import { tableOfText } from "../../csv.js";
import { Value } from "./value.js";

const AT_ONCE = 512 * 1024;
const LARGEST = 32 * 1024 * 1024;

// `wide`: in a dialog of its own, where it fills the room.
export function FileContents({ file, address, wide = false }) {
  const name = file.path ?? file.name;
  const kind = kindOf(file);
  const { projectTexts, textErrors } = store.value;
  const loaded = projectTexts[file.sha256];
  if (kind === "picture")
    return wide
      ? html`<${Picture} src=${address} name=${name} />`
      : html`<img class="picture" data-testid="project-picture" src=${address} alt=${name} />`;
  if (kind === "other" || file.size > LARGEST)
    return html`<p class="step-note">
      ${kind === "other" ? t("file-not-text") : t("file-too-large")}
    </p>`;
  return html`<${OnDemand}
    size=${file.size}
    atOnce=${wide || file.size <= AT_ONCE}
    isLoaded=${loaded !== undefined}
    problem=${textErrors[file.sha256]}
    load=${() => loadText(file.sha256, address)}
  >
    ${() => html`<${Text} ...${{ text: loaded, name, kind, address, wide }} />`}
  <//>`;
}

function Text({ kind, ...shown }) {
  const [source, setSource] = useState(false);
  const { text, name, wide } = shown;
  if (text.trim() === "") return html`<p class="step-note">${t("file-empty")}</p>`;
  if (!PREVIEWS[kind]) return html`<${Source} ...${shown} language=${languageOf(name)} />`;
  return html`<div class="file-view" data-kind=${kind} data-filled=${wide}>
    <div class="file-view-head">
      <${Switch}
        label=${t("value-view")}
        value=${source ? "source" : "preview"}
        of=${["preview", "source"]}
        choose=${(view) => setSource(view === "source")}
      />
    </div>
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

// The text of a file as code, in the colours of its language, which is loaded when it is first needed.
const LONGEST = 200_000; // characters that are shown as one block of code

function Source({ text, name, language, wide }) {
  const [known, setKnown] = useState("");
  useEffect(() => {
    learn(language).then(
      () => setKnown(language),
      (error) => console.info("not coloured:", error.message),
    );
  }, [language]);
  if (text.length > LONGEST)
    return html`<div class="value" data-filled=${wide}>
      <${FoldedText} text=${text} label=${name} open />
    </div>`;
  return html`<${CodeBlock} key=${known} code=${text} language=${known} label=${name} whole />`;
}

// A file of data: JSON, or a table of commas, semicolons or tabs.
// `value`: of a JSON file.
function DataFile({ text, name, address, wide, value }) {
  const table = useMemo(
    () => (value === undefined ? typed(tableOfText(text)) : tableOf(value)),
    [text, value],
  );
  const shape = table
    ? t("file-table", { count: table.rows.length, columns: table.columns.length })
    : name;
  const whole = value === undefined ? { csv: address } : { json: address };
  const stem = name
    .split("/")
    .at(-1)
    .replace(/\.\w+$/, "");
  return html`<div
    class="value"
    role="group"
    data-testid=${value === undefined ? "project-table" : "json-file"}
    data-filled=${wide}
    aria-label=${name}
  >
    <${Value} ...${{ value, table, shape, whole }} name=${stem} filled=${wide} />
  </div>`;
}
