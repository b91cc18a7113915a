// The conversation: its turns, and the composer under them.

import { builders } from "../births.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { useFollow } from "../scroll.js";
import { isWritten, turnsOf } from "../thread.js";
import { Composer } from "./composer.js";
import { Empty } from "./empty.js";
import { Pending } from "./pending.js";
import { isPreparing } from "./status.js";
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
  return html`<main class="chat" aria-label="Conversation">
    <div class="chat-scroller" ref=${scroller} tabindex="0" role="region" aria-label="Messages">
      <div class="chat-content" ref=${content}>
        ${empty && html`<${Empty} sandbox=${state.health?.sandbox} preparing=${isPreparing(state.health?.unready)} loading=${Boolean(state.conversationId)} missing=${state.missing} />`}
        <ol class="turns">
          ${turns.map((turn, index) => html`<${TurnView} key=${turn.id} turn=${turn} skew=${state.skew} stopping=${Boolean(state.stopping[turn.id])} kept=${kept.has(turn.id)} last=${index === turns.length - 1 && pending.length === 0} after=${state.toolDetails[turn.tool]?.tool?.habits?.after} builtBy=${built[index]} conversationId=${state.conversationId} />`)}
          ${pending.map((p) => html`<${Pending} key=${p.key} pending=${p} />`)}
        </ol>
      </div>
    </div>
    <div class="chat-foot">
      ${away && !empty && html`<button type="button" class="jump" onClick=${follow}><${Icon} name="arrowDown" />Latest</button>`}
      <${Composer} draft=${state.draft} focus=${state.focusComposer} attached=${state.attached} limits=${state.health?.files} newest=${turns.findLast(isWritten)} />
    </div>
  </main>`;
}
