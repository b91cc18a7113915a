// Steps that compare: candidates with the tests and with each other, and the tests with deliberate mistakes.

import {
  differenceText,
  noticedWords,
  parseConsensus,
  parseMutation,
  WEAK,
} from "../../consensus.js";
import { html, t } from "../../view.js";
import { Changes } from "../values/changes.js";
import { CodeBlock, Output } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";
import { TestLine, Why } from "./step-tests.js";

export function ConsensusStep({ step }) {
  const found = step.artifact ? parseConsensus(step.artifact) : null;
  if (!found) return html`<p class="step-text">${step.text}</p>`;
  return html`<ul class="tests" aria-label=${t("candidates")}>
      ${found.candidates.map(
        (candidate) => html`<${Candidate} key=${candidate.name} candidate=${candidate} />`,
      )}
    </ul>
    ${
      found.dropped.length > 0 &&
      html`<p class="step-text">${t("dropped-tests", { count: found.dropped.length })}</p>
        <ul class="tests" aria-label=${t("dropped-label")}>
          ${found.dropped.map((test) => html`<${Dropped} key=${test.test} test=${test} />`)}
        </ul>`
    }`;
}

function Candidate({ candidate: { name, words, state, code, refuted } }) {
  return html`<li class="test" data-testid="candidate" data-outcome=${state}>
    <${TestLine} state=${state} words=${t(`test-${state}`)}>
      <span class="test-name">${name}: ${words}</span>
    <//>
    ${
      refuted &&
      html`<${Output}
        class="test-message"
        label=${t("candidate-where", { name })}
        text=${differenceText(refuted)}
      />`
    }
    <${Disclosure} label=${t("candidate-code")}
      ><${CodeBlock} code=${code} label=${t("candidate-code-of", { name })}
    /><//>
  </li>`;
}

function Dropped({ test: { test, words, message } }) {
  return html`<li class="test" data-testid="dropped-test" data-outcome="skipped">
    <${TestLine} state="stopped" words=${t("test-dropped")}>
      <span class="test-name"><code>${test}</code>: ${words}</span>
    <//>
    <${Why} label=${t("dropped-why", { test })} text=${message} />
  </li>`;
}

export function MutationStep({ step }) {
  const found = step.artifact ? parseMutation(step.artifact) : null;
  const words = noticedWords(found);
  const share = found?.mutants ? found.killed / found.mutants : found?.noticed / found?.tried;
  return html`${
    words &&
    html`<div class="tally" data-testid="mutation-tally" data-tone=${share < WEAK ? "warn" : null}>
      <span class="tally-bar" aria-hidden="true"
        ><span class="tally-passed" style=${{ width: `${100 * share}%` }}></span
      ></span>
      <span>${words}</span>
    </div>`
  }${!words && html`<p class="step-text">${step.text}</p>`}${
    found?.survivors.length > 0 && html`<${Survivors} survivors=${found.survivors} />`
  }${
    found?.notes.length > 0 &&
    html`<ul class="tests" data-testid="replay-notes">
      ${found.notes.map(
        (note) => html`<li key=${note} class="test"><span class="test-name">${note}</span></li>`,
      )}
    </ul>`
  }`;
}

export const Survivors = ({ survivors }) =>
  html`<${Disclosure} label=${t("survivors", { count: survivors.length })}>
    <ul class="tests">
      ${survivors.map((survivor, n) => html`<${Survivor} key=${n} survivor=${survivor} />`)}
    </ul><//
  >`;

function Survivor({ survivor: { line, before, after } }) {
  if (!after) return html`<li class="test"><span class="test-name">${before}</span></li>`;
  return html`<li class="test" data-testid="survivor">
    <p class="test-name">${t("survivor-line", { line })}</p>
    <${Changes} before=${before} after=${after} label=${t("survivor-in", { line })} />
  </li>`;
}
