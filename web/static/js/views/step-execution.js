// The execution step: how the tool was called, and the result.

import { fileSize } from "../format.js";
import { html } from "../html.js";
import { prettyJson } from "../specification.js";
import { CodeBlock } from "./code.js";
import { Disclosure } from "./disclosure.js";

export function ExecutionStep({ step }) {
  const { tool, arguments: args, execution, made = [] } = step;
  const refused = execution?.refused_files ?? [];
  return html`
    <p class="call"><span class="call-label">Tool</span><code>${tool}</code></p>
    ${args && html`<${CodeBlock} code=${prettyJson(args)} language="json" label="Arguments" />`}
    ${execution && html`<${Outcome} execution=${execution} />`}
    ${made.length > 0 && html`<p class="call"><span class="call-label">Made</span><span>${made.map((f) => `${f.name} (${fileSize(f.size)})`).join(", ")}</span></p>`}
    ${refused.length > 0 && html`<${Disclosure} label="Refused files"><ul class="output" data-testid="refused-files">${refused.map((text) => html`<li>${text}</li>`)}</ul><//>`}
    ${execution?.stdout && html`<${Disclosure} label="What it printed"><pre class="output" tabindex="0" aria-label="What it printed">${execution.stdout}</pre><//>`}
  `;
}

function Outcome({ execution: e }) {
  switch (e.outcome) {
    case "returned":
      return html`<div class="result" data-testid="result" data-tone="good">
        <p class="result-label">Result <span class="type">${e.type_name}</span>${e.truncated && html` <span class="type">shortened</span>`}</p>
        <pre tabindex="0" aria-label="Result">${e.text === "" ? html`<span class="muted">(empty)</span>` : e.text}</pre>
      </div>`;
    case "raised":
      return html`<div class="result" data-testid="result" data-tone="bad">
        <p class="result-label">Raised <span class="type">${e.type_name}</span></p>
        <pre tabindex="0" aria-label="Error">${e.message}</pre>
        ${e.traceback && html`<${Disclosure} label="Traceback"><pre class="output" tabindex="0" aria-label="Traceback">${e.traceback}</pre><//>`}
      </div>`;
    default:
      return html`<div class="result" data-testid="result" data-tone="bad"><p class="result-label">Ended by the sandbox</p><pre tabindex="0" aria-label="Reason">${e.reason}</pre></div>`;
  }
}
