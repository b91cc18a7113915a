// The menu of a conversation, beside the button that opened it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { exportAddress } from "../../api.js";
import { dispatch, html, t } from "../../view.js";
import { MenuItem, MenuItems, place } from "../parts/menu.js";

export function ConversationMenu({ conversation, anchor, rename, change, remove, close }) {
  const menu = useRef(null);
  useLayoutEffect(() => {
    if (!menu.current) return;
    menu.current.showPopover();
    place(menu.current, anchor);
  }, []);
  if (!conversation) return null;
  const { id, pinned, title } = conversation;
  const toggled = ({ newState }) => {
    if (newState !== "closed") return;
    if (document.activeElement === document.body || menu.current?.contains(document.activeElement))
      anchor.focus();
    close();
  };
  const item = (icon, words, act) =>
    html`<${MenuItem} icon=${icon} label=${t(`conversation-${words}`)} act=${act} />`;
  const download = (words, form) =>
    html`<${MenuItem} icon="download" label=${t(words)} href=${exportAddress(id, form)} />`;
  return html`<${MenuItems}
    ref=${menu}
    label=${t("conversation-actions", { title })}
    data-testid="conversation-menu"
    toggled=${toggled}
  >
    ${item("pencil", "rename", () => rename(id))}
    ${item("pin", pinned ? "unpin" : "pin", () => change(id, { pinned: !pinned }))}
    ${download("conversation-markdown", "md")}${download("conversation-json", "json")}
    <${MenuItem}
      icon="share"
      label=${t("share-menu")}
      act=${() => dispatch({ type: "share_wanted", id })}
    />
    ${item("trash", "delete", () => remove(id))}
  <//>`;
}
