// A notebook: its cells, with their outputs below them.

import { useMemo } from "preact/hooks";
import { Markdown, Markup } from "../../markdown.js";
import { readNotebook } from "../../notebook.js";
import { html, t } from "../../view.js";
import { CodeBlock } from "./code.js";
import { FoldedText } from "./folded-text.js";

export function Notebook({ text, wide }) {
  const book = useMemo(() => {
    try {
      return readNotebook(text);
    } catch (error) {
      return { problem: error.message };
    }
  }, [text]);
  if (book.problem)
    return html`<p class="step-note" role="alert">
      ${t("notebook-problem", { message: book.problem })}
    </p>`;
  return html`<ol
    class="notebook"
    data-testid="notebook"
    data-filled=${wide}
    tabindex="0"
    aria-label=${t("notebook-cells")}
  >
    ${book.cells.map(
      (cell, n) =>
        html`<li key=${n} class="cell" data-kind=${cell.kind}>
          <${Cell} cell=${cell} language=${book.language} number=${n + 1} />
        </li>`,
    )}
    ${book.more > 0 && html`<li class="step-note">${t("notebook-more", { count: book.more })}</li>`}
  </ol>`;
}

function Cell({ cell: { kind, source, count, outputs }, language, number }) {
  if (kind === "markdown") return html`<${Markdown} text=${source} />`;
  const label = t("notebook-cell", { number });
  return html`<span class="cell-count" aria-hidden="true"
      >${count === null ? "" : `[${count}]`}</span
    >
    <div class="cell-body">
      ${
        source &&
        html`<${CodeBlock}
          code=${source}
          language=${kind === "code" ? language : ""}
          label=${label}
          whole
        />`
      }
      ${outputs.map(
        (output, n) =>
          html`<${Output} key=${n} output=${output} label=${t("notebook-output", { number })} />`,
      )}
    </div>`;
}

function Output({ output: { kind, text, stream, src, alt }, label }) {
  switch (kind) {
    case "picture":
      return html`<img class="picture" src=${src} alt=${alt || label} />`;
    case "html":
      return html`<${Markup} markup=${text} />`;
    case "markdown":
      return html`<${Markdown} text=${text} />`;
    default:
      return html`<div class="cell-output" data-kind=${kind} data-stream=${stream}>
        <${FoldedText} text=${text} label=${label} />
      </div>`;
  }
}
