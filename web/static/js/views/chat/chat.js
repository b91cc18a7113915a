// The conversation: its turns, and the composer under them.

import { builders } from "../../births.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { useFollow } from "../../scroll.js";
import { isPreparing } from "../../statuses.js";
import { t } from "../../texts.js";
import { isWritten, turnsOf } from "../../thread.js";
import { Composer } from "./composer.js";
import { Empty } from "./empty.js";
import { Pending } from "./pending.js";
import { TurnView } from "./turn.js";

export function Chat({ state, thread, pending }) {
  const turns = turnsOf(thread);
  const empty = turns.length + pending.length === 0;
  const { scroller, content, away, follow } = useFollow(
    `${state.conversationId} ${turns.length} ${pending.length}`,
    !empty,
  );
  const kept = new Set(turns.map((turn) => turn.keeps));
  const built = builders(turns);
  return html`<main class="chat" aria-label=${t("chat-label")}>
    <div
      class="chat-scroller"
      ref=${scroller}
      tabindex="0"
      role="region"
      aria-label=${t("chat-messages")}
    >
      <div class="chat-content" ref=${content}>
        ${
          empty &&
          html`<${Empty}
            sandbox=${state.health?.sandbox}
            preparing=${isPreparing(state.health?.unready)}
            offline=${state.health?.model?.offline ?? true}
            servers=${state.health?.model?.local_servers}
            loading=${Boolean(state.conversationId)}
            missing=${state.missing}
          />`
        }
        <ol class="turns">
          ${turns.map(
            (turn, index) =>
              html`<${TurnView}
                key=${turn.id}
                turn=${turn}
                before=${turn.answers.length > 0 && turns[index - 1]}
                answers=${turn.outcome === "asked" && turns[index + 1]?.answers}
                skew=${state.skew}
                stopping=${Boolean(state.stopping[turn.id])}
                kept=${kept.has(turn.id)}
                last=${index === turns.length - 1 && pending.length === 0}
                after=${state.toolDetails[turn.tool]?.tool?.habits?.after}
                builtBy=${built[index]}
                offline=${state.health?.model?.offline ?? false}
                conversationId=${state.conversationId}
              />`,
          )}
          ${pending.map(
            (p) =>
              html`<${Pending}
                key=${p.key}
                pending=${p}
                waits=${["reconnecting", "refused"].includes(state.connection)}
              />`,
          )}
        </ol>
      </div>
    </div>
    <div class="chat-foot">
      ${
        away &&
        !empty &&
        html`<button type="button" class="jump" onClick=${follow}>
          <${Icon} name="arrowDown" />${t("chat-latest")}
        </button>`
      }
      <${Composer}
        draft=${state.draft}
        focus=${state.focusComposer}
        attached=${state.attached}
        limits=${state.health?.files}
        newest=${turns.findLast(isWritten)}
      />
    </div>
  </main>`;
}
