// The execution step: how the tool was called, and the result.

import { fileSize } from "../../format.js";
import { prettyJson } from "../../specification.js";
import { locale } from "../../texts.js";
import { html, t } from "../../view.js";
import { CodeBlock, Output } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";

const list = new Intl.ListFormat(locale, { type: "unit" });

export function ExecutionStep({ step }) {
  const { tool, server, hosts, progress, arguments: args, execution, made = [] } = step;
  const refused = execution?.refused_files ?? [];
  return html`
    <p class="call"><span class="call-label">${t("execution-tool")}</span><code>${tool}</code></p>
    ${
      (server || hosts) &&
      html`<p class="call">
        <span class="call-label">${t(server ? "execution-server" : "tool-network")}</span
        ><code>${server || hosts}</code>
      </p>`
    }
    ${progress && !execution && html`<p class="call" role="status">${progress}</p>`}
    ${
      args &&
      html`<${CodeBlock}
        code=${prettyJson(args)}
        language="json"
        label=${t("execution-arguments")}
      />`
    }
    ${execution && html`<${Outcome} execution=${execution} />`}
    ${
      made.length > 0 &&
      html`<p class="call">
        <span class="call-label">${t("execution-made")}</span
        ><span>${list.format(made.map((f) => `${f.name} (${fileSize(f.size)})`))}</span>
      </p>`
    }
    ${
      refused.length > 0 &&
      html`<${Disclosure} label=${t("execution-refused")}
        ><ul class="output" data-testid="refused-files">
          ${refused.map((text) => html`<li>${text}</li>`)}
        </ul><//
      >`
    }
    ${
      execution?.stdout &&
      html`<${Disclosure} label=${t("execution-printed")}>
        <${Output} label=${t("execution-printed")} text=${execution.stdout} />
      <//>`
    }
  `;
}

function Outcome({ execution: e }) {
  if (e.outcome !== "returned") return html`<${Broken} execution=${e} />`;
  return html`<div class="result" data-testid="result" data-tone="good">
    <p class="result-label">
      ${t("execution-result")}${" "}<span class="type">${e.type_name}</span
      >${e.truncated && html` <span class="type">${t("execution-shortened")}</span>`}
    </p>
    <pre tabindex="0" aria-label=${t("execution-result")}>
${e.text === "" ? html`<span class="muted">${t("execution-empty")}</span>` : e.text}</pre>
  </div>`;
}

// An execution that raised an exception, or was ended.
export function Broken({ execution: e, testid = "result" }) {
  const raised = e.outcome === "raised";
  return html`<div class="result" data-testid=${testid} data-tone="bad">
    <p class="result-label">
      ${t(`execution-${raised ? "raised" : "ended"}`)}${
        raised && html` <span class="type">${e.type_name}</span>`
      }
    </p>
    <pre tabindex="0" aria-label=${t(`execution-${raised ? "error" : "reason"}`)}>
${raised ? e.message : e.reason}</pre>
    ${
      e.traceback &&
      html`<${Disclosure} label=${t("execution-traceback")}>
        <${Output} label=${t("execution-traceback")} text=${e.traceback} />
      <//>`
    }
  </div>`;
}
