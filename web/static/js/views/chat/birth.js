// A tool that a turn built: what it is, and what its tests proved; and the word that a later turn has used it.

import { birthsIn } from "../../births.js";
import { duration } from "../../format.js";
import { signatureText } from "../../specification.js";
import { dispatch, html, Icon, memo, openTool, rich, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { CodeBlock } from "../values/code.js";
import { WEAK } from "../../consensus.js";
import { Survivors } from "../activity/step-consensus.js";

export const Births = memo(({ turnId, steps }) =>
  birthsIn(steps).map((birth) => html`<${Birth} key=${birth.name} ...${{ turnId, ...birth }} />`),
);

// The new tool and its proofs in two lines; its signature is a click away.
export function Birth(birth) {
  const { shared, turnId, name, specification, version, passed, tests, caught, seconds } = birth;
  const [example] = specification.example_requests ?? [];
  const title = version > 1 ? t("birth-version", { name, version }) : t("birth-new", { name });
  const weak = caught && caught.killed < WEAK * caught.mutants;
  const action = (what, act, more) =>
    html`<button
      class="button"
      data-testid=${`birth-${what}`}
      aria-label=${t(`birth-${what}-tool`, { name })}
      onClick=${act}
      ...${more}
    >
      ${t(`birth-${what}`)}
    </button>`;
  const ask = () => dispatch({ type: "example_chosen", text: example });
  return html`<section class="birth" data-testid="birth" aria-label=${title}>
    <p class="birth-title"><${Icon} name="tool" />${title}</p>
    <p class="birth-facts" data-testid="birth-facts">
      ${tests > 0 && `${t("birth-tests", { passed, total: tests })} · `}
      ${
        caught &&
        html`<span data-tone=${weak ? "warn" : null}
            >${t("birth-caught", { caught: caught.killed, total: caught.mutants })}</span
          >${" · "}`
      }
      ${duration(seconds)}
    </p>
    ${
      !shared &&
      html`<div class="birth-actions">
        ${action("open", () => openTool(name))} ${example && action("try", ask, { title: example })}
      </div>`
    }
    <${Disclosure} keep=${`birth ${turnId} ${name}`} label=${t("problem-details")}>
      <${CodeBlock}
        code=${signatureText(specification)}
        label=${t("birth-signature", { name })}
        whole
      />
      ${weak && html`<${Survivors} survivors=${caught.survivors} />`}
    <//>
  </section>`;
}

// Both times are those of the whole turns.
export function BuiltEarlier({ turn, builtBy }) {
  const show = () => document.querySelector(`[data-turn="${builtBy.id}"]`)?.scrollIntoView();
  const link = html`<button class="built-link" onClick=${show}>${t("built-earlier-link")}</button>`;
  const [now, then] = [duration(turn.seconds), duration(builtBy.seconds)];
  return html`<p class="built-earlier" data-testid="built-earlier">
    ${
      turn.seconds < builtBy.seconds
        ? rich("built-earlier-faster", { tool: turn.tool, link, now, then })
        : rich("built-earlier", { tool: turn.tool, link })
    }
  </p>`;
}
