// The menu of a conversation, beside the button that opened it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { exportAddress } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";

const EDGE = 8; // pixels

export function ConversationMenu({ conversation, anchor, rename, change, remove, close }) {
  const menu = useRef(null);
  useLayoutEffect(() => {
    const { style } = menu.current;
    menu.current.showPopover();
    const { bottom, right } = anchor.getBoundingClientRect();
    const { height, width } = menu.current.getBoundingClientRect();
    style.setProperty("top", `${Math.min(bottom, innerHeight - height - EDGE)}px`);
    style.setProperty("left", `${Math.max(EDGE, right - width)}px`);
    menu.current.querySelector("[role=menuitem]").focus();
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
    html`<button type="button" role="menuitem" tabindex="-1" class="menu-item" onClick=${choose(action)}><${Icon} name=${icon} />${label}</button>`;
  const download = (label, form) =>
    html`<a role="menuitem" tabindex="-1" class="menu-item" href=${exportAddress(id, form)} download onClick=${() => menu.current.hidePopover()}><${Icon} name="download" />${label}</a>`;
  return html`<div class="menu" popover="auto" role="menu" aria-label=${`Actions: ${conversation.title}`} data-testid="conversation-menu" ref=${menu} onToggle=${toggled} onKeyDown=${move}>
    ${item("pencil", "Rename", () => rename(id))}
    ${item("pin", pinned ? "Unpin" : "Pin", () => change(id, { pinned: !pinned }))}
    ${download("Export as Markdown", "md")}
    ${download("Export as JSON", "json")}
    ${item("trash", "Delete", () => remove(id))}
  </div>`;
}

function move(event) {
  const items = [...event.currentTarget.querySelectorAll("[role=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") event.currentTarget.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length).focus();
}
