// Steps that run the suite: against an empty stub, where every test must fail, and against the implementation.

import { duration, plural } from "../format.js";
import { html } from "../html.js";
import { StateIcon } from "../icons.js";
import { count, expectedTests, repeatWords } from "../progress.js";
import { Disclosure } from "./disclosure.js";

export function StubStep({ step }) {
  const { total, passed } = count(step.tests);
  const verdict =
    passed === 0
      ? `${total === 1 ? "The only test fails" : `All ${total} tests fail`} without an implementation, as ${total === 1 ? "it" : "they"} should.`
      : `${plural(passed, "test")} of ${total} passed without any implementation, so they test nothing.`;
  return html`<p class="step-text" data-testid="stub-verdict">${verdict}</p>
    <${Repeats} repeats=${step.repeats} />
    <${Disclosure} label=${`Show the ${plural(total, "test")}`}><${TestList} tests=${step.tests} /><//>`;
}

export function VerificationStep({ step, steps }) {
  const { total, passed, failed } = count(step.tests);
  const expected = step.state === "running" ? expectedTests(steps, step) : total;
  const words =
    step.state === "running" || total > 0
      ? `${passed} of ${expected} passed${failed ? `, ${failed} failed` : ""}`
      : "";
  return html`
    ${
      expected > 0 &&
      html`<div class="tally" data-testid="tally">
      <span class="tally-bar" aria-hidden="true"><span class="tally-passed" style=${{ width: `${(100 * passed) / expected}%` }}></span><span class="tally-failed" style=${{ width: `${(100 * failed) / expected}%` }}></span></span>
      <span>${words}</span>
    </div>`
    }
    ${step.text && (total === 0 || (step.state === "failed" && failed === 0)) && html`<p class="step-text">${step.text}</p>`}
    <${Repeats} repeats=${step.repeats} />
    <${TestList} tests=${step.tests} />`;
}

// Repeated runs of the whole suite, which a flaky suite fails.
function Repeats({ repeats }) {
  if (repeats.length === 0) return null;
  const state = repeats.every((r) => r.same) ? "passed" : "failed";
  return html`<p class="repeats" data-testid="repeats" data-outcome=${state}><${StateIcon} state=${state} /><span>${repeatWords(repeats)}</span></p>`;
}

const OUTCOMES = { passed: "passed", failed: "failed", error: "error", skipped: "skipped" };

function TestList({ tests }) {
  return html`<ul class="tests">${tests.map((test) => html`<${TestRow} key=${test.test} test=${test} />`)}</ul>`;
}

function TestRow({ test }) {
  const { test: name, outcome, seconds, message } = test;
  return html`<li class="test" data-testid="test-row" data-test=${name} data-outcome=${outcome}>
    <div class="test-line">
      <span class="test-outcome"><${StateIcon} state=${outcome} /><span class="visually-hidden">${OUTCOMES[outcome]}</span></span>
      <span class="test-name">${readable(name)}</span>
      <span class="time">${duration(seconds)}</span>
    </div>
    ${message && html`<${Disclosure} label="Why"><pre class="test-message" tabindex="0" aria-label=${`Why ${name} did not pass`}>${message}</pre><//>`}
  </li>`;
}

const readable = (name) => name.replace(/^test_/, "").replaceAll("_", " ");
