// A plan in the conversation: its steps with their states and results, each of which leads to what it did.

import { useState } from "preact/hooks";
import { pathOfPart } from "../../feed.js";
import { firstLine, list, number, stateWords } from "../../format.js";
import { outcomeOf } from "../../outcome.js";
import { planOf } from "../../plan.js";
import { dispatch, html, Icon, memo, StateIcon, t } from "../../view.js";
import { keep } from "../../connection.js";
import { Disclosure } from "../parts/disclosure.js";

// Once the answer says what it came to, one line.
export const Plan = memo(({ turnId, steps, answered }) => {
  const plan = planOf(steps);
  if (!plan) return null;
  const go = (path) => dispatch({ type: "step_wanted", turnId, path });
  const parts = html`<ol class="plan" data-testid="plan" aria-label=${t("plan")}>
    ${plan.parts.map(
      (part, index) =>
        html`<li
          key=${part.id}
          class="plan-part"
          data-testid="plan-part"
          data-part=${part.id}
          data-state=${part.state}
        >
          <${PartState} state=${part.state} />
          <div>
            <p>
              <span class="plan-number">${number(index + 1)}</span>${" "}${
                part.steps.length > 0
                  ? html`<button
                      class="plan-request"
                      onClick=${() => go(pathOfPart(plan.key, index))}
                    >
                      ${part.request}
                    </button>`
                  : part.request
              }
            </p>
            <${PartFacts} part=${part} parts=${plan.parts} />
          </div>
        </li>`,
    )}
  </ol>`;
  return answered
    ? html`<${Disclosure} keep=${`plan ${turnId}`} label=${outcomeOf(plan)}>${parts}<//>`
    : parts;
});

export const PartState = ({ state }) =>
  html`<span class="plan-icon"
    ><${StateIcon} state=${state} /><span class="visually-hidden"
      >${stateWords(state)}:${" "}</span
    ></span
  >`;

// A part's value, its tool, and the results that it works on, except the one before.
export function PartFacts({ part: { id, needs, tool, text }, parts }) {
  const place = (one) => parts.findIndex((part) => part.id === one) + 1;
  const others = needs.some((one) => place(one) !== place(id) - 1);
  const used = others
    ? t("plan-needs", { count: needs.length, steps: list(needs.map((one) => number(place(one)))) })
    : "";
  const facts = [tool, used].filter(Boolean);
  return html`
    ${
      text &&
      html`<p class="plan-result" data-testid="plan-result">
        <span class="arrow" aria-label=${t("gives")}>→</span> <span>${firstLine(text)}</span>
      </p>`
    }
    ${facts.length > 0 && html`<p class="plan-facts">${facts.join(" · ")}</p>`}
  `;
}

// Saving a plan that worked as a tool.
export function Keep({ turnId }) {
  const [sent, setSent] = useState(false);
  const send = async () => {
    setSent(true);
    setSent(await keep(turnId));
  };
  return html`<button class="button keep" data-testid="keep" disabled=${sent} onClick=${send}>
    <${Icon} name="tool" />${t("turn-keep")}
  </button>`;
}
