// One conversation of the list: a link that is renamed in place.

import { useLayoutEffect, useRef } from "preact/hooks";
import { selectAll } from "../../clipboard.js";
import { html, memo, Spinner, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";
import { partsBy } from "../../conversations.js";
import { ago } from "../../format.js";

const LONGEST = 200;

export const Conversation = memo(
  ({ id, title, open, busy, unread, found, renaming, go, rename, change, remove, openMenu }) => {
    const link = useRef(null);
    const renamed = useRef(false);
    useLayoutEffect(() => {
      if (renamed.current && !renaming && document.activeElement === document.body)
        link.current.focus();
      renamed.current = renaming;
    }, [renaming]);
    const follow = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(id);
    };
    const press = (event) => {
      if (event.key === "F2") rename(id);
      else if (event.key === "Delete") remove(id);
      else return;
      event.preventDefault();
    };
    if (renaming)
      return html`<${Renaming}
        title=${title}
        save=${(text) => change(id, { title: text })}
        close=${() => rename(null)}
      />`;
    return html`<div class="conversation-row">
      <a
        class="conversation"
        ref=${link}
        href=${`#${encodeURIComponent(id)}`}
        data-testid="conversation-row"
        aria-current=${open ? "true" : null}
        aria-keyshortcuts="F2 Delete"
        title=${title}
        onClick=${follow}
        onDblClick=${() => rename(id)}
        onKeyDown=${press}
      >
        <span class="conversation-words"
          ><span class="conversation-title"
            ><${Marked}
              text=${title || t("conversation-untitled")}
              query=${found?.query ?? ""} /></span
          >${found && html`<${Found} ...${found} />`}</span
        >
        ${
          busy
            ? html`<${Spinner} label=${t("conversation-running")} />`
            : unread &&
              !open &&
              html`<span class="unread" role="img" aria-label=${t("conversation-unread")}></span>`
        }
      </a>
      <${IconButton}
        icon="more"
        label=${t("conversation-actions", { title })}
        class="conversation-more"
        data-testid="conversation-more"
        aria-haspopup="menu"
        onClick=${(event) => openMenu({ id, anchor: event.currentTarget })}
      />
    </div>`;
  },
);

const Marked = ({ text, query }) =>
  partsBy(text, query).map((part, i) =>
    i % 2 ? html`<mark class="palette-hit">${part}</mark>` : part,
  );

// The match of a search in a conversation, and its age.
const Found = ({ snippet, query, active_at: at }) =>
  html`<span class="conversation-found" data-testid="conversation-found"
    ><span class="time">${ago(at)}</span> <${Marked} text=${snippet} query=${query}
  /></span>`;

function Renaming({ title, save, close }) {
  const field = useRef(null);
  const ended = useRef(false);
  useLayoutEffect(() => selectAll(field.current), []);
  const end = (text) => {
    if (ended.current) return;
    ended.current = true;
    if (text && text !== title) save(text);
    close();
  };
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // Escape would close the drawer too
    end(event.key === "Enter" ? event.target.value.trim() : "");
  };
  return html`<input
    class="conversation-name"
    ref=${field}
    data-testid="conversation-name"
    aria-label=${t("conversation-title")}
    maxlength=${LONGEST}
    value=${title}
    onKeyDown=${press}
    onBlur=${(event) => end(event.target.value.trim())}
  />`;
}
