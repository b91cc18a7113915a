// The earlier answers that a tool's newest version changes, with both values; they are computed when someone looks.

import { getRecomputed } from "../../api.js";
import { Loaded } from "../../lazy.js";
import { openConversation } from "../../route.js";
import { html, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";

export const Recomputed = ({ tool, label }) =>
  html`<${Disclosure} label=${label}
    ><${Loaded} view=${Changes} request=${() => getRecomputed(tool)}
  /><//>`;

function Changes({ computed, changed, unknown }) {
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
