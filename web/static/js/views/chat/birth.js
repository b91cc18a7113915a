// A tool that a turn built: what it is, and what its tests proved; and the word that a later turn has used it.

import { birthsIn } from "../../births.js";
import { duration } from "../../format.js";
import { signatureText } from "../../specification.js";
import { dispatch, html, Icon, memo, openTool, rich, t } from "../../view.js";
import { CodeBlock } from "../values/code.js";
import { WEAK } from "../../consensus.js";
import { Survivors } from "../activity/step-consensus.js";

export const Births = memo(({ steps }) =>
  birthsIn(steps).map((birth) => html`<${Birth} key=${birth.name} ...${birth} />`),
);

function Birth({ name, specification, version, passed, tests, caught, seconds }) {
  const [example] = specification.example_requests ?? [];
  const open = () => openTool(name);
  const title = version > 1 ? t("birth-version", { name, version }) : t("birth-new", { name });
  const weak = caught && caught.killed < WEAK * caught.mutants;
  return html`<section class="birth" data-testid="birth" aria-label=${title}>
    <p class="birth-title"><${Icon} name="tool" />${title}</p>
    <${CodeBlock}
      code=${signatureText(specification)}
      label=${t("birth-signature", { name })}
      whole
    />
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
    ${weak && html`<${Survivors} survivors=${caught.survivors} />`}
    <div class="birth-actions">
      <button
        class="button"
        data-testid="birth-open"
        aria-label=${t("birth-open-tool", { name })}
        onClick=${open}
      >
        ${t("birth-open")}
      </button>
      ${
        example &&
        html`<button
          class="button"
          data-testid="birth-try"
          title=${example}
          aria-label=${t("birth-try-tool", { name })}
          onClick=${() => dispatch({ type: "example_chosen", text: example })}
        >
          ${t("birth-try")}
        </button>`
      }
    </div>
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
