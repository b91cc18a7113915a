// The composer: Enter sends, Shift+Enter starts a new line; it is never disabled, since turns may run in parallel.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ask } from "../../connection.js";
import { LONGEST_REQUEST } from "../../drafts.js";
import { limitsText } from "../../files.js";
import { pasted, pick } from "../../picking.js";
import { dispatch, html, Icon, memo, rich, t } from "../../view.js";
import { AttachedFiles } from "../values/files.js";
import { Keys } from "../frame/keys.js";
import { IconButton } from "../parts/controls.js";
import { TemporaryNote } from "./composer-foot.js";

// On a touch keyboard Enter begins a new line, as there is no Shift to hold.
const hasMouse = matchMedia("(pointer: fine)");

// `newest`: the turn whose request Up takes back into an empty composer.
// `edits`: whether it becomes another version of an earlier request.
export const Composer = memo((props) => {
  const { draft, edits, focus, attached, refused, limits, newest, temporary, id } = props;
  const field = useRef(null);
  const picker = useRef(null);
  useLayoutEffect(() => fit(field.current), [draft]);
  useEffect(() => {
    if (focus === 0 && !hasMouse.matches) return;
    field.current.focus();
    field.current.setSelectionRange(draft.length, draft.length);
  }, [focus]);

  const tooLong = draft.length > LONGEST_REQUEST;
  const send = (event) => {
    event.preventDefault();
    if (draft.trim() && !tooLong) ask(draft.trim(), attached);
    field.current.focus();
  };
  const pressed = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && hasMouse.matches)
      send(event);
    if (event.key === "ArrowUp" && draft === "" && attached.length === 0 && newest) {
      event.preventDefault();
      dispatch({ type: "request_edited", turn: newest });
    }
  };

  const picked = ({ target }) => {
    pick(target.files);
    target.value = ""; // so that the same file can be picked again
  };
  const asks =
    attached.length > 0
      ? t("composer-with-files", { count: attached.length })
      : t("composer-empty");

  return html`<form class="composer" onSubmit=${send}>
    ${temporary && html`<${TemporaryNote} id=${id} />`}
    ${
      refused &&
      html`<p class="composer-count refused" role="alert" data-testid="files-refused">
        ${refused}
      </p>`
    }
    ${
      edits &&
      html`<p class="composer-edits" data-testid="edits">
        ${t("composer-edits")}
        <button
          type="button"
          class="text-button"
          data-testid="cancel-edit"
          onClick=${() => dispatch({ type: "edit_cancelled" })}
        >
          ${t("pending-cancel")}
        </button>
      </p>`
    }
    ${attached.length > 0 && html`<${AttachedFiles} files=${attached} draft=${draft} />`}
    <${IconButton}
      icon="paperclip"
      label=${t("composer-attach")}
      large
      class="attach"
      title=${t("composer-attach-limits", { limits: limitsText(limits) })}
      data-testid="attach"
      onClick=${() => picker.current.click()}
    />
    <input
      class="visually-hidden"
      type="file"
      multiple
      tabindex="-1"
      aria-label=${t("composer-files")}
      data-testid="file-input"
      ref=${picker}
      onChange=${picked}
    />
    <label class="visually-hidden" for="composer">${t("composer-label")}</label>
    <textarea
      id="composer"
      data-testid="composer"
      ref=${field}
      rows="1"
      placeholder=${asks}
      autocomplete="off"
      enterkeyhint=${hasMouse.matches ? "send" : "enter"}
      aria-describedby=${hasMouse.matches ? "composer-hint" : null}
      aria-invalid=${tooLong ? "true" : null}
      value=${draft}
      onInput=${(e) => dispatch({ type: "draft_changed", text: e.target.value })}
      onKeyDown=${pressed}
      onPaste=${pasted}
    ></textarea>
    <button
      type="submit"
      class="send"
      data-testid="send"
      aria-label=${t("composer-send")}
      data-ready=${draft.trim() !== "" && !tooLong}
    >
      <${Icon} name="arrowUp" />
    </button>
    ${
      tooLong &&
      html`<p class="composer-count" role="alert" data-testid="too-long">
        ${t("composer-too-long", { length: draft.length, most: LONGEST_REQUEST })}
      </p>`
    }
  </form>`;
});

export const Hint = () =>
  hasMouse.matches &&
  html`<p class="composer-hint" id="composer-hint">
    ${rich("composer-hint", {
      send: html`<${Keys} of="send" />`,
      line: html`<${Keys} of="line" />`,
      list: html`<${Keys} of="list" />`,
    })}
  </p>`;

function fit(field) {
  if (CSS.supports("field-sizing", "content")) return; // then its style sheet does
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}
