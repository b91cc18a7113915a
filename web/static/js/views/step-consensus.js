// Steps that compare: candidates with the tests and with each other, and the tests with deliberate mistakes.

import { differenceText, parseConsensus, parseMutation } from "../consensus.js";
import { plural } from "../format.js";
import { html } from "../html.js";
import { StateIcon } from "../icons.js";
import { Changes } from "./changes.js";
import { CodeBlock } from "./code.js";
import { Disclosure } from "./disclosure.js";

export function ConsensusStep({ step }) {
  const found = step.artifact ? parseConsensus(step.artifact) : null;
  if (!found) return html`<p class="step-text">${step.text}</p>`;
  return html`
    <ul class="tests" aria-label="Candidates">${found.candidates.map((candidate) => html`<${Candidate} key=${candidate.name} candidate=${candidate} />`)}</ul>
    ${
      found.dropped.length > 0 &&
      html`<p class="step-text">${plural(found.dropped.length, "test")} dropped, because most candidates contradict ${found.dropped.length === 1 ? "it" : "them"}:</p>
      <ul class="tests" aria-label="Dropped tests">${found.dropped.map((test) => html`<${Dropped} key=${test.test} test=${test} />`)}</ul>`
    }`;
}

function Candidate({ candidate: { name, words, state, code, refuted } }) {
  return html`<li class="test" data-testid="candidate" data-outcome=${state}>
    <div class="test-line">
      <span class="test-outcome"><${StateIcon} state=${state} /><span class="visually-hidden">${state}</span></span>
      <span class="test-name">${name}: ${words}</span>
    </div>
    ${refuted && html`<pre class="test-message" tabindex="0" aria-label=${`Where ${name} differs`}>${differenceText(refuted)}</pre>`}
    <${Disclosure} label="Its code"><${CodeBlock} code=${code} label=${`Code of ${name}`} /><//>
  </li>`;
}

function Dropped({ test: { test, words, message } }) {
  return html`<li class="test" data-testid="dropped-test" data-outcome="skipped">
    <div class="test-line">
      <span class="test-outcome"><${StateIcon} state="stopped" /><span class="visually-hidden">dropped</span></span>
      <span class="test-name"><code>${test}</code>: ${words}</span>
    </div>
    ${message && html`<${Disclosure} label="Why"><pre class="test-message" tabindex="0" aria-label=${`Why candidates fail ${test}`}>${message}</pre><//>`}
  </li>`;
}

export function MutationStep({ step }) {
  const found = step.artifact ? parseMutation(step.artifact) : null;
  const share = found?.mutants ? (100 * found.killed) / found.mutants : 0;
  return html`
    ${
      found?.mutants > 0 &&
      html`<div class="tally" data-testid="mutation-tally">
      <span class="tally-bar" aria-hidden="true"><span class="tally-passed" style=${{ width: `${share}%` }}></span></span>
      <span>caught ${found.killed} of ${plural(found.mutants, "planted bug")}</span>
    </div>`
    }
    ${!found?.mutants && html`<p class="step-text">${step.text}</p>`}
    ${
      found?.survivors.length > 0 &&
      html`<${Disclosure} label=${`Show the ${plural(found.survivors.length, "planted bug")} that no test catches`}>
      <ul class="tests">${found.survivors.map((survivor, index) => html`<${Survivor} key=${index} survivor=${survivor} />`)}</ul><//>`
    }`;
}

function Survivor({ survivor: { line, before, after } }) {
  if (!after) return html`<li class="test"><span class="test-name">${before}</span></li>`;
  return html`<li class="test" data-testid="survivor">
    <p class="test-name">Line ${line}</p>
    <${Changes} before=${before} after=${after} label=${`The planted bug in line ${line}`} />
  </li>`;
}
