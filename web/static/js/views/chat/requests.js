// The requests that a tool is found by: each can be sent again, and one that it served can be removed.

import { useRef } from "preact/hooks";
import { forget } from "../../changing.js";
import { openConversation } from "../../route.js";
import { dispatch, html, Icon, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";
import { Confirm } from "../parts/confirm.js";

// `past` has the visitor's own turns with the tool, whose requests are listed, too.
export function Requests({ name, written, used, past: { made, last = [] } }) {
  const heading = useRef(null);
  const turns = [...last, made].filter(Boolean);
  const unused = written.filter((text) => !used.includes(text));
  const texts = new Set([...unused, ...used, ...turns.map(({ request }) => request)]);
  if (texts.size === 0) return null;
  const remove = async (text) => {
    await forget(name, text);
    heading.current?.focus(); // the button that had the focus is gone
  };
  const item = (text) =>
    html`<li key=${text} class="used-request">
      <${Example} text=${text} /><${Turn} of=${turns.find(({ request }) => request === text)} />${
        used.includes(text) &&
        html`<${Confirm}
          testid="forget"
          label=${t("requests-forget")}
          about=${text}
          question=${t("requests-forget-question", { request: text })}
          act=${() => remove(text)}
        />`
      }
    </li>`;
  return html`<h3 class="eyebrow" tabindex="-1" ref=${heading}>${t("requests-title")}</h3>
    <ul class="examples compact" data-testid="requests">
      ${[...texts].map(item)}
    </ul>
    ${used.length > 0 && html`<p class="step-note">${t("requests-own")}</p>`}`;
}

// The conversation in which the tool served a request.
const Turn = ({ of }) =>
  of &&
  html`<${IconButton}
    icon="link"
    label=${t("requests-open", { request: of.request })}
    title=${t("requests-open-title")}
    data-testid="past-turn"
    onClick=${() => openConversation(of.conversation_id)}
  />`;

// The requests that often follow a tool.
export const FollowUps = ({ after }) =>
  html`<ul class="examples compact" data-testid="follow-ups">
    ${after.map(({ request }) => html`<li key=${request}><${Example} text=${request} /></li>`)}
  </ul>`;

function Example({ text }) {
  return html`<button
    class="example"
    data-testid="example"
    onClick=${() => dispatch({ type: "example_chosen", text })}
  >
    <span>${text}</span><${Icon} name="chevronRight" />
  </button>`;
}
