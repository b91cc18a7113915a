// Below the composer: which model answers, whether the conversation is temporary, and what it has cost.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { getModels } from "../../api.js";
import { costText } from "../../format.js";
import { changeConversation } from "../../loading.js";
import { dispatch, html, Icon, memo, t } from "../../view.js";
import { MenuItem, MenuItems, place } from "../parts/menu.js";

const choose = (id, choice) => dispatch({ type: "choice_made", id, choice });
// `usual`: the model of the settings; "" where no one can choose another.
export const ComposerFoot = memo(({ id, usual, model, temporary, cost, tokens, children }) => {
  const about = t("conversation-cost", { tokens: t("usage-tokens", { count: tokens }) });
  return html`<div class="composer-foot">
    <span class="composer-choices">
      ${usual && html`<${ModelSwitch} ...${{ id, usual, model }} />`}
      ${
        !id &&
        html`<button
          class="text-button"
          data-testid="temporary"
          aria-pressed=${temporary}
          onClick=${() => choose(id, { temporary: !temporary })}
        >
          <${Icon} name="clock" />${t("temporary")}
        </button>`
      }
    </span>
    ${children}
    <span class="composer-cost" data-testid="conversation-cost" title=${about}
      >${costText(cost)}</span
    >
  </div>`;
});

export function TemporaryNote({ id }) {
  const remove = async () => {
    if (await changeConversation(id, { deleted: true }))
      dispatch({ type: "conversation_deleted", id });
  };
  return html`<p class="composer-edits" data-testid="temporary-note">
    ${t("temporary-note")}
    ${
      id &&
      html`<button
        type="button"
        class="text-button"
        data-testid="temporary-delete"
        onClick=${remove}
      >
        <${Icon} name="trash" />${t("temporary-delete")}
      </button>`
    }
  </p>`;
}

// A menu of the server's models; they are asked for when it opens.
function ModelSwitch({ id, usual, model }) {
  const [models, setModels] = useState([]);
  const [button, menu] = [useRef(null), useRef(null)];
  const current = model || usual;
  const isOpen = () => menu.current?.matches(":popover-open");
  useLayoutEffect(() => isOpen() && place(menu.current, button.current), [models]);
  const toggled = async ({ newState }) => {
    if (newState !== "open") return isOpen() || button.current?.focus();
    place(menu.current, button.current);
    setModels(await getModels({}).catch(({ message }) => dispatch({ type: "noticed", message })));
  };
  const take = async (name) => {
    const choice = { model: name === usual ? "" : name };
    if (!id || (await changeConversation(id, choice))) choose(id, choice);
  };
  return html`<button
      class="text-button"
      ref=${button}
      popovertarget="models"
      aria-haspopup="menu"
      aria-label=${t("model-switch", { model: current })}
      data-testid="model-switch"
    >
      <${Icon} name="model" /><span class="model-name">${current}</span
      ><${Icon} name="chevronDown" />
    </button>
    <${MenuItems} ...${{ id: "models", ref: menu, toggled, label: t("model-menu") }}>
      ${[...new Set([usual, current, ...(models ?? [])])].map(
        (name) =>
          html`<${MenuItem}
            key=${name}
            role="menuitemradio"
            aria-checked=${name === current}
            icon=${name === current ? "check" : "model"}
            label=${name === usual ? t("model-usual", { model: name }) : name}
            act=${() => take(name)}
          />`,
      )}
    <//>`;
}
