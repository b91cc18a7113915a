// The conversations: searched, grouped by day, and managed; on a narrow page a drawer.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { listed } from "../../conversations.js";
import { changeConversation, searchConversations } from "../../loading.js";
import { openConversation } from "../../route.js";
import { dispatch, html, Icon, memo, t } from "../../view.js";
import { useGrowing } from "../../virtual.js";
import { Conversation } from "./conversation.js";
import { ConversationMenu } from "./conversation-menu.js";
import { Projects } from "../projects/projects.js";
import { Undo } from "./undo.js";
import { SearchField } from "../parts/controls.js";

const ROOM = "(min-width: 1200px)"; // for a column, as in layout.css

function closeDrawer() {
  const drawer = document.getElementById("conversations");
  if (drawer.matches(":popover-open")) drawer.hidePopover();
}

function go(id) {
  closeDrawer();
  openConversation(id);
  if (!id) document.getElementById("composer")?.focus();
}

async function remove(id) {
  if (await changeConversation(id, { deleted: true }))
    dispatch({ type: "conversation_deleted", id });
}

async function change(id, changed) {
  if (await changeConversation(id, changed))
    dispatch({ type: "conversation_changed", id, change: changed });
}

// `running`: the ids of the conversations in which something runs, as one text.
export const Sidebar = memo(
  ({ conversations, projects, running, conversationId, search, deleted }) => {
    const scroller = useRef(null);
    useEffect(() => {
      const room = matchMedia(ROOM);
      const widened = () => {
        const focused = document.activeElement;
        closeDrawer(); // it would stand beside its column
        focused?.focus();
      };
      room.addEventListener("change", widened);
      return () => room.removeEventListener("change", widened);
    }, []);
    return html`<nav
      class="sidebar"
      id="conversations"
      popover="auto"
      aria-label=${t("conversations")}
    >
      <button
        class="button new-conversation"
        data-testid="new-conversation"
        onClick=${() => go(null)}
      >
        <${Icon} name="plus" />${t("conversation-new")}
      </button>
      ${
        (conversations.length > 0 || projects?.length > 0 || search.text) &&
        html`<${Search} text=${search.text} />`
      }
      <div class="sidebar-scroller" ref=${scroller}>
        <div>
          <${Projects} projects=${projects} openId=${conversationId} text=${search.text} go=${go} />
        </div>
        <${Conversations}
          ...${{ conversations, running, search, scroller }}
          openId=${conversationId}
        />
      </div>
      ${deleted && html`<${Undo} key=${deleted.id} deleted=${deleted} />`}
    </nav>`;
  },
);

function Conversations({ conversations, running, openId, search, scroller }) {
  const [renaming, rename] = useState(null);
  const [menu, openMenu] = useState(null); // {id, anchor}
  const today = new Date().toDateString();
  const groups = useMemo(
    () => listed(conversations, search, Date.now()),
    [conversations, search, today],
  );
  const busy = new Set(running.split(" "));
  const { drawn, end } = useGrowing(conversations.length, scroller);
  let left = drawn;
  return html`<div class="conversation-groups">
      ${groups.map(({ id, title, conversations: members }) => {
        const shown = members.slice(0, left);
        left -= shown.length;
        if (shown.length === 0) return null;
        return html`<section key=${id} aria-label=${title}>
          <h2 class="eyebrow">${title}</h2>
          <ul>
            ${shown.map((one, at) => line(one, at, members.length))}
          </ul>
        </section>`;
      })}
      <div ref=${end}></div>
      ${
        search.found &&
        groups.length === 0 &&
        html`<p class="nothing-found" role="status">${t("conversations-none-found")}</p>`
      }
    </div>
    ${
      menu &&
      html`<${ConversationMenu}
        key=${menu.id}
        conversation=${conversations.find(({ id }) => id === menu.id)}
        anchor=${menu.anchor}
        ...${{ rename, change, remove }}
        close=${() => openMenu(null)}
      />`
    }`;

  function line(c, at, of) {
    return html`<li key=${c.id} aria-setsize=${of} aria-posinset=${at + 1}>
      <${Conversation}
        id=${c.id}
        title=${c.title}
        open=${c.id === openId}
        busy=${c.running || busy.has(c.id)}
        unread=${c.unread}
        found=${c.query ? c : null}
        renaming=${c.id === renaming}
        ...${{ go, rename, change, remove, openMenu }}
      />
    </li>`;
  }
}

function Search({ text }) {
  return html`<div class="search conversation-search">
    <${Icon} name="search" />
    <${SearchField}
      data-testid="conversation-search"
      label=${t("conversations-search")}
      maxlength="200"
      value=${text}
      set=${searchConversations}
    />
  </div>`;
}
