// The conversation: its turns, and the composer under them.

import { builders } from "../../births.js";
import { useEffect, useRef } from "preact/hooks";
import { loadEarlier } from "../../loading.js";
import { choiceOf, shownBranch } from "../../reducer.js";
import { useFollow } from "../../scroll.js";
import { isPreparing } from "../../statuses.js";
import { isWritten, spentIn } from "../../thread.js";
import { html, t } from "../../view.js";
import { Composer, Hint } from "./composer.js";
import { ComposerFoot } from "./composer-foot.js";
import { Empty } from "./empty.js";
import { Pending } from "./pending.js";
import { TurnView } from "./turn.js";
import { Jump, Region } from "../parts/controls.js";

export function Chat({ state, thread, pending }) {
  const { turns, parents, versions } = shownBranch(state);
  const empty = turns.length + pending.length === 0;
  const { scroller, content, away, follow } = useFollow(
    `${state.conversationId} ${turns.at(-1)?.id} ${pending.length}`,
    !empty,
  );
  const kept = new Set(turns.map((turn) => turn.keeps));
  const built = builders(turns);
  const choice = choiceOf(state);
  const { model } = state.health ?? {};
  const listed = state.conversations.find(({ id }) => id === state.conversationId);
  const { tokens, cost } = listed ?? spentIn(thread); // the list has no temporary ones
  return html`<main class="chat" aria-label=${t("chat-label")}>
    <${Region} class="chat-scroller" label=${t("chat-messages")} ref=${scroller}>
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
        ${
          thread.earlier > 0 &&
          html`<${Earlier} key=${thread.earlier} conversationId=${state.conversationId} />`
        }
        <ol class="turns">
          ${turns.map(
            (turn, index) =>
              html`<${TurnView}
                key=${turn.id}
                turn=${turn}
                ...${placeAmong(versions[parents[turn.id]], turn.id)}
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
                upload=${state.upload?.key === p.key && !p.sent && state.upload}
                waits=${["reconnecting", "refused"].includes(state.connection)}
              />`,
          )}
        </ol>
      </div>
    <//>
    <div class="chat-foot">
      ${away && !empty && html`<${Jump} follow=${follow} />`}
      <${Composer}
        draft=${state.draft}
        edits=${state.draftAfter !== null}
        focus=${state.focusComposer}
        attached=${state.attached}
        refused=${state.refused}
        limits=${state.health?.files}
        newest=${turns.findLast(isWritten)}
        temporary=${choice.temporary}
        id=${state.conversationId}
      />
      <${ComposerFoot}
        ...${{ ...choice, tokens, cost, id: state.conversationId }}
        usual=${model && !model.offline ? model.name : ""}
      >
        <${Hint} />
      <//>
    </div>
  </main>`;
}

// The place of a turn among those that follow the same, and its neighbours there.
function placeAmong(ids, id) {
  const index = ids.indexOf(id);
  return { number: index + 1, count: ids.length, older: ids[index - 1], newer: ids[index + 1] };
}

// Loads earlier turns shortly before it is scrolled into view; the browser then keeps in place what is read.
function Earlier({ conversationId }) {
  const button = useRef(null);
  const load = () => loadEarlier(conversationId);
  useEffect(() => {
    const options = { root: button.current.closest(".chat-scroller"), rootMargin: "800px 0px" };
    const near = new IntersectionObserver(
      ([{ isIntersecting }]) => isIntersecting && load(),
      options,
    );
    near.observe(button.current);
    return () => near.disconnect();
  }, []);
  return html`<button
    class="text-button earlier"
    data-testid="earlier"
    ref=${button}
    onClick=${load}
  >
    ${t("chat-earlier")}
  </button>`;
}
