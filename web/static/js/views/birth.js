// A tool that a turn built: what it is, and what its tests proved; and the word that a later turn has used it.

import { birthsIn } from "../births.js";
import { duration, plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { signatureText } from "../specification.js";
import { dispatch } from "../store.js";
import { CodeBlock } from "./code.js";

export const Births = memo(({ steps }) =>
  birthsIn(steps).map((birth) => html`<${Birth} key=${birth.name} ...${birth} />`),
);

function Birth({ name, specification, version, passed, tests, caught, seconds }) {
  const [example] = specification.example_requests ?? [];
  const open = () => dispatch({ type: "tool_opened", name });
  const facts = [
    tests > 0 && `${passed} of ${plural(tests, "test")} passed`,
    caught && `caught ${caught.killed} of ${plural(caught.mutants, "planted bug")}`,
    duration(seconds),
  ].filter(Boolean);
  return html`<section class="birth" data-testid="birth" aria-label=${`New tool ${name}`}>
    <p class="birth-title"><${Icon} name="tool" />${version > 1 ? `${name} is now version ${version}` : `New tool: ${name}`}</p>
    <${CodeBlock} code=${signatureText(specification)} label=${`Signature of ${name}`} whole />
    <p class="birth-facts" data-testid="birth-facts">${facts.join(" · ")}</p>
    <div class="birth-actions">
      <button type="button" class="button" data-testid="birth-open" aria-label=${`Open ${name}`} onClick=${open}>Open</button>
      ${example && html`<button type="button" class="button" data-testid="birth-try" title=${example} aria-label=${`Try ${name}`} onClick=${() => dispatch({ type: "example_chosen", text: example })}>Try</button>`}
    </div>
  </section>`;
}

// Both times are those of the whole turns.
export function BuiltEarlier({ turn, builtBy }) {
  const show = () => document.querySelector(`[data-turn="${builtBy.id}"]`)?.scrollIntoView();
  const faster = turn.seconds < builtBy.seconds;
  return html`<p class="built-earlier" data-testid="built-earlier">
    ${turn.tool} was <button type="button" class="built-link" onClick=${show}>built earlier in this conversation</button>${faster && `; ${duration(turn.seconds)} instead of ${duration(builtBy.seconds)}`}
  </p>`;
}
