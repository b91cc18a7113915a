// The conversations: searched, grouped by day, and managed; on a narrow page a drawer.

import { useState } from "preact/hooks";
import { listed } from "../conversations.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { changeConversation, searchConversations } from "../loading.js";
import { memo } from "../memo.js";
import { openConversation } from "../route.js";
import { dispatch } from "../store.js";
import { isBusy } from "../thread.js";
import { Conversation } from "./conversation.js";
import { ConversationMenu } from "./conversation-menu.js";
import { Undo } from "./undo.js";

function go(id) {
  const drawer = document.getElementById("conversations");
  if (drawer.matches(":popover-open")) drawer.hidePopover();
  openConversation(id);
  if (!id) document.getElementById("composer").focus();
}

async function remove(id) {
  if (await changeConversation(id, { deleted: true }))
    dispatch({ type: "conversation_deleted", id });
}

async function change(id, changed) {
  if (await changeConversation(id, changed))
    dispatch({ type: "conversation_changed", id, change: changed });
}

export const Sidebar = memo(({ conversations, threads, conversationId, search, deleted }) => {
  const [renaming, rename] = useState(null);
  const [menu, openMenu] = useState(null); // {conversation, anchor}
  const groups = listed(conversations, search, Date.now());
  const row = (c) =>
    html`<${Conversation} key=${c.id} id=${c.id} title=${c.title} open=${c.id === conversationId} busy=${c.running || (c.id in threads && isBusy(threads[c.id]))} unread=${c.unread} renaming=${c.id === renaming} go=${go} rename=${rename} change=${change} remove=${remove} openMenu=${openMenu} />`;
  return html`<nav class="sidebar" id="conversations" popover="auto" aria-label="Conversations">
    <button type="button" class="button new-conversation" data-testid="new-conversation" onClick=${() => go(null)}>
      <${Icon} name="plus" />New conversation
    </button>
    ${(conversations.length > 0 || search.text) && html`<${Search} text=${search.text} />`}
    <div class="conversation-groups">
      ${groups.map(
        ({ title, conversations: members }) => html`<section key=${title} aria-label=${title}>
        <h2 class="eyebrow">${title}</h2>
        <ul class="conversation-list">${members.map(row)}</ul>
      </section>`,
      )}
      ${search.found && groups.length === 0 && html`<p class="nothing-found" role="status">No conversation has these words.</p>`}
    </div>
    ${deleted && html`<${Undo} key=${deleted.id} deleted=${deleted} />`}
    ${menu && html`<${ConversationMenu} key=${menu.id} conversation=${conversations.find(({ id }) => id === menu.id)} anchor=${menu.anchor} rename=${rename} change=${change} remove=${remove} close=${() => openMenu(null)} />`}
  </nav>`;
});

function Search({ text }) {
  return html`<div class="search conversation-search">
    <${Icon} name="search" />
    <input type="search" maxlength="200" data-testid="conversation-search" placeholder="Search conversations" aria-label="Search conversations" value=${text} onInput=${(e) => searchConversations(e.target.value)} />
  </div>`;
}
