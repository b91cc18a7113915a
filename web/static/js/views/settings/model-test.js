// The test of a model's server: each ability as it is found out, and what they mean together.

import { stopTest } from "../../connection.js";
import { list } from "../../format.js";
import { errorWords } from "../../settings.js";
import { html, Icon, Spinner, StateIcon, t } from "../../view.js";
import { ErrorWords } from "../parts/problem.js";
import { Prose } from "../parts/prose.js";

export function ModelTest({ test, offline, begin }) {
  if (offline) return null;
  const runs = test !== null && test.end === null;
  return html`<div class="settings-test" data-testid="settings-test">
    <div class="settings-row">
      ${
        runs
          ? html`<button class="button" data-testid="settings-test-stop" onClick=${stopTest}>
              <${Icon} name="square" />${t("settings-test-stop")}
            </button>`
          : html`<button class="button" data-testid="settings-test-begin" onClick=${begin}>
              <${Icon} name="flask" />${t("settings-test-begin")}
            </button>`
      }
      <p class="run-note">${t("settings-test-note")}</p>
    </div>
    <div role="status">
      ${test?.end && html`<${End} end=${test.end} />`}
      ${
        test &&
        html`<ul class="settings-abilities">
          ${test.abilities.map(
            (one) => html`<${Ability} key=${`${one.purpose} ${one.way}`} ability=${one} />`,
          )}
          ${
            runs &&
            html`<li class="settings-ability">
              <${Spinner} label=${t("state-running")} />
            </li>`
          }
        </ul>`
      }
    </div>
  </div>`;
}

// A way that a server lacks is no fault while another one works.
function Ability({ ability: { purpose, way, works, detail } }) {
  return html`<li class="settings-ability" data-testid="settings-ability" data-works=${works}>
    ${works ? html`<${StateIcon} state="done" />` : html`<${Icon} name="cross" />`}
    <span
      ><span class="visually-hidden">${t(works ? "settings-works" : "settings-fails")} </span
      >${t(`ability-${purpose}-${way}`)}${
        detail && html` <span class="run-note"><${Prose} text=${detail} /></span>`
      }</span
    >
  </li>`;
}

function End({ end: { suitability, error } }) {
  if (error)
    return html`<div class="settings-verdict" data-tone="bad" data-testid="settings-verdict">
      <${ErrorWords} error=${error.fields ? { message: errorWords(error) } : error} />
    </div>`;
  const { usable, missing, wasted } = suitability;
  const lacks = list(missing.map((purpose) => t(`ability-of-${purpose}`)));
  return html`<p
    class="settings-verdict"
    data-tone=${usable ? "good" : "bad"}
    data-testid="settings-verdict"
  >
    <strong>${t(usable ? "settings-usable" : "settings-unusable")}</strong>${" "}${
      usable ? t("settings-usable-cost") : t("settings-lacks", { lacks })
    }${" "}${usable && wasted > 0 && t("settings-wasted", { count: wasted })}
  </p>`;
}
