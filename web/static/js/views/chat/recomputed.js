// The earlier answers that a tool's newest version changes, with both values; they are computed when someone looks.

import { useEffect, useState } from "preact/hooks";
import { getRecomputed } from "../../api.js";
import { openConversation } from "../../route.js";
import { html, Spinner, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { ErrorWords } from "../parts/problem.js";

export const Recomputed = ({ tool, label }) =>
  html`<${Disclosure} label=${label}><${Changes} tool=${tool} /><//>`;

function Changes({ tool }) {
  const [report, setReport] = useState(null);
  useEffect(() => {
    getRecomputed(tool).then(setReport, (error) => setReport({ problem: error }));
  }, [tool]);
  if (!report) return html`<${Spinner} label=${t("loading")} />`;
  if (report.problem) return html`<${ErrorWords} error=${report.problem} />`;
  const { computed, changed, unknown } = report;
  return html`<div data-testid="recomputed">
    <p class="step-note">
      ${t("recomputed", { computed, changed: changed.length })}
      ${unknown > 0 && ` ${t("recomputed-unknown", { unknown })}`}
    </p>
    ${changed.map(
      (answer) =>
        html`<dl class="facts" key=${`${answer.turn_id} ${answer.arguments}`}>
          <dt>
            <button class="text-button" onClick=${() => openConversation(answer.conversation_id)}>
              ${answer.request}
            </button>
          </dt>
          <dd><del>${answer.before}</del> <ins>${answer.after}</ins></dd>
        </dl>`,
    )}
  </div>`;
}
