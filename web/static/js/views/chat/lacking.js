// A request that a tool can serve but for a value: the tool's form, with what the request gives filled in.

import { useEffect } from "preact/hooks";
import { entriesOf } from "../../calling.js";
import { loadTool } from "../../loading.js";
import { html, rich, store } from "../../view.js";
import { Questions } from "./questions.js";
import { RunForm } from "./run-form.js";
import { ToolLink } from "../parts/controls.js";

// `lacks`: {tool, given}; a tool that is gone leaves the questions as they are.
export function Lacking({ turnId, lacks: { tool: name, given }, questions, intro }) {
  const detail = store.value.toolDetails[name];
  useEffect(() => {
    if (!detail || detail.stale) loadTool(name);
  }, [name, detail]);
  if (detail?.error)
    return html`<${Questions} turnId=${turnId} questions=${questions} intro=${intro} />`;
  return html`<section class="lacking" data-testid="lacking">
    <p>${rich("lacking", { tool: html`<${ToolLink} name=${name} />` })}</p>
    ${
      detail &&
      html`<${RunForm}
        place=${turnId}
        tool=${detail.tool}
        given=${entriesOf(detail.tool.parameters, detail.tool.input_schema.properties, given)}
      />`
    }
  </section>`;
}
