// The values that a turn shows below its answer, each loaded when it is drawn, or on request if it is large.

import { useEffect, useState } from "preact/hooks";
import { fileSize } from "../../format.js";
import { lazy, Loading } from "../../lazy.js";
import { loadResult } from "../../loading.js";
import { addressOfResult, longResults, shapeWords } from "../../results.js";
import { html, store, t } from "../../view.js";

const AT_ONCE = 1024 * 1024;
const Value = lazy(async () => (await import("../values/rich.js")).Value);

export function LongResults({ turn, conversationId }) {
  return longResults(turn).map(
    (reference) =>
      html`<${LongResult} key=${reference.sha256} ...${{ reference, conversationId }} />`,
  );
}

function LongResult({ reference, conversationId }) {
  const [wanted, setWanted] = useState(reference.size <= AT_ONCE);
  const loaded = store.value.results[reference.sha256];
  const load = () => loadResult(conversationId, reference);
  useEffect(() => {
    if (wanted && !loaded) load();
  }, [wanted, reference.sha256]);
  const shape = shapeWords(reference);
  const address = (format) => addressOfResult(conversationId, reference, format);
  const whole =
    reference.kind === "text"
      ? { text: address("text") }
      : { csv: address("csv"), json: address("json") };
  return html`<section
    class="value"
    data-testid="long-result"
    data-kind=${reference.kind}
    aria-label=${shape}
  >
    ${
      loaded && "value" in loaded
        ? html`<${Value}
            value=${loaded.value}
            number=${reference.kind === "number"}
            ...${{ shape, whole }}
            name="result"
            wide
          />`
        : html`<header class="value-head"><span class="value-shape">${shape}</span></header>
            ${
              loaded?.error
                ? html`<p class="step-note" role="alert">
                    ${t("value-not-loaded", { message: loaded.error.message })}${" "}<button
                      class="button"
                      onClick=${load}
                    >
                      ${t("try-again")}
                    </button>
                  </p>`
                : wanted
                  ? html`<${Loading} />`
                  : html`<button class="code-more" onClick=${() => setWanted(true)}>
                      ${t("value-show", { size: fileSize(reference.size) })}
                    </button>`
            }`
    }
  </section>`;
}
