// Steps of agents: a message with everything that it caused, and a run of their code.

import { agentWords, plural, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { Markdown } from "../markdown.js";
import { CodeBlock } from "./code.js";
import { Course } from "./course.js";
import { Disclosure } from "./disclosure.js";
import { Steps } from "./steps.js";

export function DelegationStep({ step, skew }) {
  const { recipient, message, reply, steps, state } = step;
  return html`<p class="call"><span class="call-label">Handed to ${recipient === "user" ? "you" : `the ${agentWords(recipient)}`}</span></p>
    <div class="step-text"><${Markdown} text=${message} /></div>
    ${steps.length > 0 && html`<div class="plan-detail"><${Disclosure} label=${`${plural(steps.length, "step")} of ${agentWords(recipient)}, ${STATE_WORDS[state]}`} open=${state === "running"}>${step.course.length > 0 && html`<${Course} course=${step.course} label=${`Stages of ${agentWords(recipient)}`} skew=${skew} />`}<${Steps} of=${step} skew=${skew} /><//></div>`}
    ${reply && html`<div class="step-text" data-testid="reply"><span class="call-label">Reply</span> <${Markdown} text=${reply} /></div>`}`;
}

export function CodeRunStep({ step }) {
  const { code, execution } = step;
  return html`${code && html`<${CodeBlock} code=${code} label="Code" />`}
    ${execution?.stdout && html`<pre class="output" tabindex="0" aria-label="What it printed" data-testid="printed">${execution.stdout}</pre>`}
    ${
      execution &&
      execution.outcome !== "returned" &&
      html`<div class="result" data-tone="bad" data-testid="code-error">
      <p class="result-label">${execution.outcome === "raised" ? html`Raised <span class="type">${execution.type_name}</span>` : "Ended by the sandbox"}</p>
      <pre tabindex="0" aria-label="Error">${execution.message ?? execution.reason}</pre>
      ${execution.traceback && html`<${Disclosure} label="Traceback"><pre class="output" tabindex="0" aria-label="Traceback">${execution.traceback}</pre><//>`}
    </div>`
    }`;
}
