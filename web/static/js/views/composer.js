// The composer: Enter sends, Shift and Enter begin a new line; it is never disabled, since turns may run side by side.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ask } from "../connection.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";

const hasMouse = matchMedia("(pointer: fine)");

export const Composer = memo(({ draft, focus }) => {
  const field = useRef(null);
  useLayoutEffect(() => fit(field.current), [draft]);
  useEffect(() => {
    if (focus === 0 && !hasMouse.matches) return;
    field.current.focus();
    field.current.setSelectionRange(draft.length, draft.length);
  }, [focus]);

  const send = (event) => {
    event.preventDefault();
    if (draft.trim()) ask(draft.trim());
    field.current.focus();
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };

  return html`<form class="composer" onSubmit=${send}>
    <label class="visually-hidden" for="composer">Your request</label>
    <textarea id="composer" data-testid="composer" ref=${field} rows="1" placeholder="Ask for something…" autocomplete="off"
      aria-describedby="composer-hint" value=${draft} onInput=${(e) => dispatch({ type: "draft_changed", text: e.target.value })} onKeyDown=${pressed}></textarea>
    <button type="submit" class="send" data-testid="send" aria-label="Send" data-ready=${draft.trim() !== ""}><${Icon} name="arrowUp" /></button>
    <p class="composer-hint" id="composer-hint"><kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a new line</p>
  </form>`;
});

function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
