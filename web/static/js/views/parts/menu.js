// A menu of actions: a popover below the button that opens it, moved through with the arrow keys.

import { useRef } from "preact/hooks";
import { html, Icon } from "../../view.js";
import { IconButton } from "./controls.js";

const EDGE = 8; // pixels

export function Menu({ id, label, testid = id, large, children }) {
  const [button, menu] = [useRef(null), useRef(null)];
  const toggled = ({ newState }) => {
    if (!menu.current) return; // the event comes later than what it tells of
    if (newState === "open") place(menu.current, button.current);
    else if (menu.current.contains(document.activeElement)) button.current.focus();
  };
  return html`<${IconButton}
      icon="more"
      ...${{ label, large }}
      ref=${button}
      popovertarget=${id}
      aria-haspopup="menu"
      data-testid=${testid}
    />
    <${MenuItems} id=${id} label=${label} ref=${menu} toggled=${toggled}>${children}<//>`;
}

// The popover alone, for a button elsewhere. To choose an item closes it, which gives the button its focus back.
export const MenuItems = ({ ref, label, toggled, children, ...more }) =>
  html`<div
    class="menu"
    popover="auto"
    role="menu"
    aria-label=${label}
    ref=${ref}
    onToggle=${toggled}
    onKeyDown=${move}
    ...${more}
  >
    ${children}
  </div>`;

// An item that acts, or one that downloads what is at `href`.
export const MenuItem = ({ icon, label, act, ...more }) =>
  html`<${more.href ? "a" : "button"}
    role="menuitem"
    tabindex="-1"
    class="menu-item"
    download=${more.href && ""}
    onClick=${(event) => {
      event.currentTarget.closest("[popover]").hidePopover();
      act?.();
    }}
    ...${more}
  >
    <${Icon} name=${icon} />${label}
  <//>`;

// Below the button, within the window; the first item has the focus.
export function place(menu, anchor) {
  const { bottom, left, right } = anchor.getBoundingClientRect();
  const { height, width } = menu.getBoundingClientRect();
  menu.style.setProperty("top", `${Math.min(bottom, innerHeight - height - EDGE)}px`);
  const start = right - width < EDGE ? Math.min(left, innerWidth - width - EDGE) : right - width;
  menu.style.setProperty("left", `${Math.max(EDGE, start)}px`);
  menu.querySelector("[role^=menuitem]")?.focus();
}

function move(event) {
  const items = [...event.currentTarget.querySelectorAll("[role^=menuitem]")];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === "Tab") event.currentTarget.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length).focus();
}
