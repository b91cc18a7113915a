// Searching the steps of a turn: Enter goes to the next place, Shift+Enter to the one before, Esc ends it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { dispatch, html, t } from "../../view.js";
import { IconButton } from "../parts/controls.js";

export function FeedSearch({ search: { text }, found: { at, count } }) {
  const [form, field] = [useRef(null), useRef(null)];
  useLayoutEffect(() => field.current.focus(), []);
  const step = (by) => count > 0 && dispatch({ type: "feed_stepped", by });
  const close = () => {
    form.current.closest(".activity").querySelector("[data-testid=search-steps]").focus();
    dispatch({ type: "feed_searched", text: null });
  };
  const press = (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") close();
    else step(event.shiftKey ? -1 : 1);
  };
  const words = text.trim() ? t("feed-found", { at, count }) : "";
  return html`<search class="feed-search" ref=${form}>
    <input
      type="text"
      inputmode="search"
      enterkeyhint="next"
      class="feed-search-field"
      ref=${field}
      data-testid="feed-search"
      aria-label=${t("feed-search")}
      placeholder=${t("feed-search")}
      autocomplete="off"
      spellcheck=${false}
      value=${text}
      onInput=${(event) => dispatch({ type: "feed_searched", text: event.target.value })}
      onKeyDown=${press}
    />
    <span class="feed-found" role="status" data-testid="feed-found">${words}</span>
    <${IconButton}
      icon="arrowUp"
      label=${t("feed-before")}
      disabled=${count === 0}
      onClick=${() => step(-1)}
    />
    <${IconButton}
      icon="arrowDown"
      label=${t("feed-after")}
      disabled=${count === 0}
      onClick=${() => step(1)}
    />
    <${IconButton} icon="cross" label=${t("feed-search-close")} onClick=${close} />
  </search>`;
}
