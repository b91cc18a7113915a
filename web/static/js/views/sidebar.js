// The conversations; on a narrow page a drawer.

import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { openConversation } from "../route.js";
import { isBusy } from "../thread.js";

function go(id) {
  const drawer = document.getElementById("conversations");
  if (drawer.matches(":popover-open")) drawer.hidePopover();
  openConversation(id);
  if (!id) document.getElementById("composer").focus();
}

export const Sidebar = memo(({ conversations, threads, conversationId }) => {
  return html`<nav class="sidebar" id="conversations" popover="auto" aria-label="Conversations">
    <button type="button" class="button new-conversation" data-testid="new-conversation" onClick=${() => go(null)}>
      <${Icon} name="plus" />New conversation
    </button>
    ${conversations.length > 0 && html`<h2 class="eyebrow">Conversations</h2>`}
    <ul class="conversation-list">
      ${conversations.map((c) => html`<${Conversation} key=${c.id} id=${c.id} title=${c.title} open=${c.id === conversationId} busy=${c.id in threads && isBusy(threads[c.id])} />`)}
    </ul>
  </nav>`;
});

const Conversation = memo(({ id, title, open, busy }) => {
  return html`<li>
    <button type="button" class="conversation" data-testid="conversation-row" aria-current=${open ? "true" : null} title=${title} onClick=${() => go(id)}>
      <span class="conversation-title">${title || "Untitled"}</span>
      ${busy && html`<span class="spinner" role="img" aria-label="running"></span>`}
    </button>
  </li>`;
});
