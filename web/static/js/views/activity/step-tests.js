// Steps that run the suite: without an implementation, where every test must fail, and over the implementation.

import { duration } from "../../format.js";
import { count, expectedTests, repeatWords, stubWords, tallyWords } from "../../suite.js";
import { html, StateIcon, t, words } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { Output } from "../values/code.js";

export function StubStep({ step: { tests, repeats } }) {
  return html`<p class="step-text" data-testid="stub-verdict">${stubWords(tests)}</p>
    <${Repeats} repeats=${repeats} />
    <${TestList} tests=${tests} />`;
}

export function VerificationStep({ step, steps }) {
  const { tests, text, state, repeats } = step;
  const { total, passed, failed } = count(tests);
  const expected = state === "running" ? expectedTests(steps, step) : total;
  return html`${
      expected > 0 &&
      html`<div class="tally" data-testid="tally">
        <span class="tally-bar" aria-hidden="true"
          ><span class="tally-passed" style=${{ width: `${(100 * passed) / expected}%` }}></span
          ><span class="tally-failed" style=${{ width: `${(100 * failed) / expected}%` }}></span
        ></span>
        <span>${tallyWords(tests, expected)}</span>
      </div>`
    }${
      text &&
      (total === 0 || (state === "failed" && failed === 0)) &&
      html`<p class="step-text">${text}</p>`
    }<${Repeats} repeats=${repeats} /><${TestList} tests=${tests} />`;
}

// Repeated runs of the whole suite, which a flaky suite fails.
function Repeats({ repeats }) {
  if (repeats.length === 0) return null;
  const state = repeats.every((r) => r.same) ? "passed" : "failed";
  return html`<p class="repeats" data-testid="repeats" data-outcome=${state}>
    <${StateIcon} state=${state} /><span>${repeatWords(repeats)}</span>
  </p>`;
}

function TestList({ tests }) {
  return html`<ul class="tests">
    ${tests.map((test) => html`<${TestRow} key=${test.test} test=${test} />`)}
  </ul>`;
}

function TestRow({ test }) {
  const { test: name, outcome, seconds, message } = test;
  return html`<li class="test" data-testid="test-row" data-test=${name} data-outcome=${outcome}>
    <${TestLine} state=${outcome} words=${words(`test-${outcome}`, outcome)}>
      <span class="test-name">${readable(name)}</span>
      <span class="time">${duration(seconds)}</span>
    <//>
    <${Why} label=${t("test-why", { name })} text=${message} />
  </li>`;
}

// A line of a list of tests or of what is like one; `words` say its state.
export const TestLine = ({ state, words, children }) =>
  html`<div class="test-line">
    <span class="test-outcome"
      ><${StateIcon} state=${state} /><span class="visually-hidden">${words}</span></span
    >
    ${children}
  </div>`;

export const Why = ({ label, text }) =>
  text &&
  html`<${Disclosure} label=${t("why")}>
    <${Output} class="test-message" label=${label} text=${text} />
  <//>`;

const readable = (name) => name.replace(/^test_/, "").replaceAll("_", " ");
