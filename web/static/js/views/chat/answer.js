// The answer of a turn; once it is whole, each block of code in it can be copied.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { GrowingMarkdown, Markdown } from "../../markdown.js";
import { html, Icon, t } from "../../view.js";
import { CopyButton } from "../values/code.js";

// `corrected`: the tool that gave a wrong answer, and the version in which it is fixed. `checked`: what other
// implementations of the tool said of its result. `cutOff`: the turn ended before it was whole. `pictures`: those of
// the turn, name → address.
export function Answer({ text, streams, corrected, checked, cutOff, pictures }) {
  const answer = useRef(null);
  useLayoutEffect(() => {
    if (streams) return;
    const places = [...answer.current.querySelectorAll(".answer-code")].map(addCopy);
    return () => places.forEach((place) => render(null, place));
  }, [text, streams]);
  return html`${
      corrected &&
      html`<p class="answer-corrected" data-testid="answer-corrected">
        <${Icon} name="swap" /> ${t("answer-corrected", corrected)}
      </p>`
    }
    <div data-testid="answer" data-state=${streams ? "streaming" : "finished"} ref=${answer}>
      ${streams ? html`<${GrowingMarkdown} text=${text} />` : html`<${Markdown} text=${text} pictures=${pictures} />`}
    </div>
    ${
      cutOff &&
      html`<p class="answer-checked" data-testid="answer-cut-off">
        <${Icon} name="alert" /> ${t("answer-cut-off")}
      </p>`
    }
    ${
      checked &&
      html`<p class="answer-checked" data-testid="answer-checked">
        <${Icon} name=${checked.other ? "alert" : "checks"} />
        ${t(checked.other ? "answer-doubted" : "answer-checked", checked)}
      </p>`
    }`;
}

// Beside the sanitised markup, since that may hold no button.
function addCopy(frame, index) {
  const place = document.createElement("div");
  frame.append(place);
  const text = frame.querySelector("pre").textContent;
  render(
    html`<${CopyButton} text=${text} label=${t("answer-code", { number: index + 1 })} />`,
    place,
  );
  return place;
}
