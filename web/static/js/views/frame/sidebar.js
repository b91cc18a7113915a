// The conversations: searched, grouped by day, and managed; on a narrow page a drawer.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { listed } from "../../conversations.js";
import { changeConversation, searchConversations } from "../../loading.js";
import { openConversation } from "../../route.js";
import { dispatch, html, Icon, memo, t } from "../../view.js";
import { useVirtual } from "../../virtual.js";
import { Conversation } from "./conversation.js";
import { ConversationMenu } from "./conversation-menu.js";
import { Projects } from "../projects/projects.js";
import { Undo } from "./undo.js";
import { SearchField } from "../parts/search-field.js";

const [TOP, HEADING, ROW] = [22, 38, 34]; // pixels, about: the first heading, another, a conversation
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

// A heading or a conversation; `group` is what it belongs to.
const linesOf = (group) => [
  { group, key: `group ${group.id}` },
  ...group.conversations.map((conversation, at) => ({
    group,
    key: conversation.id,
    conversation,
    at,
  })),
];

function Conversations({ conversations, running, openId, search, scroller }) {
  const list = useRef(null);
  const [margin, setMargin] = useState(0);
  const [renaming, rename] = useState(null);
  const [menu, openMenu] = useState(null); // {id, anchor}
  const today = new Date().toDateString();
  const lines = useMemo(
    () => listed(conversations, search, Date.now()).flatMap(linesOf),
    [conversations, search, today],
  );
  const busy = new Set(running.split(" "));
  const { rows, after, measure } = useVirtual({
    count: lines.length,
    size: (index) => (lines[index]?.conversation ? ROW : index > 0 ? HEADING : TOP),
    scroller,
    margin,
    key: (index) => lines[index]?.key ?? index,
  });
  useLayoutEffect(() => {
    const above = new ResizeObserver(() => setMargin(list.current.offsetTop));
    for (const element of scroller.current.children) above.observe(element);
    return () => above.disconnect();
  }, []);
  return html`<div class="conversation-groups" ref=${list}>
      ${sectionsOf(lines, rows).map(({ group, drawn }) => {
        const heading = drawn.find(({ index }) => !lines[index].conversation);
        return html`<section key=${group.id} aria-label=${group.title}>
          ${
            heading &&
            html`<h2
              class="eyebrow"
              data-index=${heading.index}
              ref=${measure}
              style=${{ marginTop: `${heading.gap}px` }}
            >
              ${group.title}
            </h2>`
          }
          <ul>
            ${drawn.filter((row) => row !== heading).map((row) => line(row))}
          </ul>
        </section>`;
      })}
      <div style=${{ height: `${after}px` }}></div>
      ${
        search.found &&
        lines.length === 0 &&
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

  function line({ index, gap }) {
    const { group, conversation: c, at } = lines[index];
    return html`<li
      key=${c.id}
      data-index=${index}
      ref=${measure}
      aria-setsize=${group.conversations.length}
      aria-posinset=${at + 1}
      style=${{ marginTop: `${gap}px` }}
    >
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

// The drawn lines of each group that has any.
function sectionsOf(lines, rows) {
  const sections = [];
  for (const row of rows) {
    const { group } = lines[row.index];
    if (sections.at(-1)?.group !== group) sections.push({ group, drawn: [] });
    sections.at(-1).drawn.push(row);
  }
  return sections;
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
