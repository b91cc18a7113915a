// The menu of a conversation, beside the button that opened it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { exportAddress } from "../../api.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { dispatch } from "../../store.js";
import { t } from "../../texts.js";

const EDGE = 8; // pixels

export function ConversationMenu({ conversation, anchor, rename, change, remove, close }) {
  const menu = useRef(null);
  useLayoutEffect(() => {
    if (!menu.current) return;
    menu.current.showPopover();
    place(menu.current, anchor);
  }, []);
  if (!conversation) return null;
  const { id, pinned } = conversation;
  const toggled = ({ newState }) => {
    if (newState !== "closed") return;
    if (document.activeElement === document.body || menu.current?.contains(document.activeElement))
      anchor.focus();
    close();
  };
  const choose = (action) => () => {
    menu.current.hidePopover();
    action();
  };
  const item = (icon, label, action) =>
    html`<button
      type="button"
      role="menuitem"
      tabindex="-1"
      class="menu-item"
      onClick=${choose(action)}
    >
      <${Icon} name=${icon} />${label}
    </button>`;
  const download = (label, form) =>
    html`<a
      role="menuitem"
      tabindex="-1"
      class="menu-item"
      href=${exportAddress(id, form)}
      download
      onClick=${() => menu.current.hidePopover()}
      ><${Icon} name="download" />${label}</a
    >`;
  return html`<div
    class="menu"
    popover="auto"
    role="menu"
    aria-label=${t("conversation-actions", { title: conversation.title })}
    data-testid="conversation-menu"
    ref=${menu}
    onToggle=${toggled}
    onKeyDown=${move}
  >
    ${item("pencil", t("conversation-rename"), () => rename(id))}${item(
      "pin",
      t(pinned ? "conversation-unpin" : "conversation-pin"),
      () => change(id, { pinned: !pinned }),
    )}${download(
      t("conversation-markdown"),
      "md",
    )}${download(t("conversation-json"), "json")}${item("share", t("share-menu"), () =>
      dispatch({ type: "share_wanted", id }),
    )}${item("trash", t("conversation-delete"), () => remove(id))}
  </div>`;
}

// Below the button, within the window; the first item has the focus.
export function place(menu, anchor) {
  const { bottom, right } = anchor.getBoundingClientRect();
  const { height, width } = menu.getBoundingClientRect();
  menu.style.setProperty("top", `${Math.min(bottom, innerHeight - height - EDGE)}px`);
  menu.style.setProperty("left", `${Math.max(EDGE, right - width)}px`);
  menu.querySelector("[role^=menuitem]").focus();
}

export function move(event) {
  const items = [...event.currentTarget.querySelectorAll("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") event.currentTarget.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length).focus();
}
