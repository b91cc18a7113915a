// Saying that an answer is wrong: the right value, which becomes a test, or what is wrong; both optional.

import { useEffect, useRef, useState } from "preact/hooks";
import { getText } from "../../api.js";
import { wrong } from "../../connection.js";
import { addressOfResult, lastValue } from "../../results.js";
import { dispatch, html, t } from "../../view.js";

const LARGEST = 4000; // bytes of a value that is corrected in its place

export function Wrong({ turn, conversationId, close }) {
  const value = lastValue(turn);
  const [present, setPresent] = useState("");
  const [right, setRight] = useState("");
  const [complaint, setComplaint] = useState("");
  const [sent, setSent] = useState(false);
  const first = useRef(null);
  useEffect(() => {
    first.current.focus();
    if (!value || value.size > LARGEST) return;
    const show = (text) => {
      setPresent(text);
      setRight((now) => now || text);
    };
    const form = value.kind === "text" ? "text" : "json";
    const shown = (error) => dispatch({ ...error, type: "noticed" });
    getText(addressOfResult(conversationId, value, form)).then((text) => show(text.trim()), shown);
  }, []);
  const send = async (event) => {
    event.preventDefault();
    setSent(true);
    const changed = right.trim() === present.trim() ? "" : right;
    const begun = await wrong(turn.id, complaint || t("wrong-words"), changed);
    if (begun) close();
    else setSent(false);
  };
  const escape = (event) => event.key === "Escape" && close();
  return html`<form
    class="questions"
    data-testid="wrong-form"
    aria-label=${t("wrong")}
    onSubmit=${send}
    onKeyDown=${escape}
  >
    ${
      value &&
      html`<label class="field"
        >${t("wrong-value")}<textarea
          class="input editor"
          rows=${Math.min(8, right.split("\n").length)}
          spellcheck="false"
          data-testid="wrong-value"
          ref=${first}
          value=${right}
          onInput=${({ target }) => setRight(target.value)}
        ></textarea
        ><span class="run-note">${t("wrong-value-note")}</span></label
      >`
    }
    <label class="field"
      >${t("wrong-complaint")}<textarea
        class="input"
        rows="2"
        data-testid="wrong-complaint"
        ref=${value ? null : first}
        value=${complaint}
        onInput=${({ target }) => setComplaint(target.value)}
      ></textarea>
    </label>
    <div class="form-actions">
      <button type="submit" class="button primary" data-testid="wrong-send" disabled=${sent}>
        ${t("wrong-send")}
      </button>
      <button class="button" onClick=${close}>${t("confirm-cancel")}</button>
    </div>
  </form>`;
}
