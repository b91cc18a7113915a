// A button that asks before it acts; the focus goes to the answer, and back.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html, t } from "../../view.js";

// `about` distinguishes this button from others with the same label.
export function Confirm({ label, about, question, act, testid }) {
  const [asking, setAsking] = useState(false);
  const [trigger, answer, asked] = [useRef(null), useRef(null), useRef(false)];
  const id = useId();
  useLayoutEffect(() => {
    if (asking) answer.current.focus();
    else if (asked.current) trigger.current.focus();
    asked.current = asking;
  }, [asking]);
  const yes = () => {
    setAsking(false);
    act();
  };
  if (!asking)
    return html`<button
      type="button"
      class="button"
      ref=${trigger}
      data-testid=${testid}
      aria-label=${about && `${label}: ${about}`}
      onClick=${() => setAsking(true)}
    >
      ${label}
    </button>`;
  return html`<div
    class="confirm"
    role="group"
    aria-labelledby=${id}
    onKeyDown=${(e) => e.key === "Escape" && setAsking(false)}
  >
    <p id=${id}>${question}</p>
    <div class="confirm-answers">
      <button
        type="button"
        class="button primary"
        ref=${answer}
        aria-describedby=${id}
        data-testid=${`${testid}-yes`}
        onClick=${yes}
      >
        ${label}
      </button>
      <button type="button" class="button" onClick=${() => setAsking(false)}>
        ${t("confirm-cancel")}
      </button>
    </div>
  </div>`;
}
