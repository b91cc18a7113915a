// The composer: Enter sends, Shift+Enter starts a new line; it is never disabled, since turns may run in parallel.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ask } from "../connection.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { limitsText } from "../files.js";
import { memo } from "../memo.js";
import { pasted, pick } from "../picking.js";
import { dispatch } from "../store.js";
import { AttachedFiles } from "./files.js";

const hasMouse = matchMedia("(pointer: fine)");

// `newest`: the turn whose request Up takes back into an empty composer.
export const Composer = memo(({ draft, focus, attached, limits, newest }) => {
  const field = useRef(null);
  const picker = useRef(null);
  useLayoutEffect(() => fit(field.current), [draft]);
  useEffect(() => {
    if (focus === 0 && !hasMouse.matches) return;
    field.current.focus();
    field.current.setSelectionRange(draft.length, draft.length);
  }, [focus]);

  const send = (event) => {
    event.preventDefault();
    if (draft.trim()) ask(draft.trim(), attached);
    field.current.focus();
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
    if (event.key === "ArrowUp" && draft === "" && attached.length === 0 && newest) {
      event.preventDefault();
      dispatch({ type: "request_edited", turn: newest });
    }
  };

  const picked = ({ target }) => {
    pick(target.files);
    target.value = ""; // so that the same file can be picked again
  };

  return html`<form class="composer" onSubmit=${send}>
    ${attached.length > 0 && html`<${AttachedFiles} files=${attached} />`}
    <button type="button" class="icon-button attach" data-testid="attach" aria-label="Attach files" title=${`Attach files: ${limitsText(limits)}`} onClick=${() => picker.current.click()}><${Icon} name="paperclip" /></button>
    <input class="visually-hidden" type="file" multiple tabindex="-1" aria-label="Files" data-testid="file-input" ref=${picker} onChange=${picked} />
    <label class="visually-hidden" for="composer">Your request</label>
    <textarea id="composer" data-testid="composer" ref=${field} rows="1" placeholder=${attached.length > 0 ? "What should I do with this file?" : "Ask for something…"} autocomplete="off"
      aria-describedby="composer-hint" value=${draft} onInput=${(e) => dispatch({ type: "draft_changed", text: e.target.value })} onKeyDown=${pressed} onPaste=${pasted}></textarea>
    <button type="submit" class="send" data-testid="send" aria-label="Send" data-ready=${draft.trim() !== ""}><${Icon} name="arrowUp" /></button>
    <p class="composer-hint" id="composer-hint"><kbd>Enter</kbd> to send · <kbd>Shift</kbd>+<kbd>Enter</kbd> for a new line · drop files anywhere · <kbd>Ctrl</kbd>+<kbd>/</kbd> for shortcuts</p>
  </form>`;
});

function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
