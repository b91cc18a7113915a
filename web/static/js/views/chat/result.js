// The values that a turn shows below its answer, each loaded when it is drawn, or on request if it is large.

import { lazy, OnDemand } from "../../lazy.js";
import { loadResult } from "../../loading.js";
import { addressOfResult, longResults, shapeWords } from "../../results.js";
import { html, store } from "../../view.js";

const AT_ONCE = 1024 * 1024;
const Value = lazy(async () => (await import("../values/rich.js")).Value);

export function LongResults({ turn, conversationId }) {
  return longResults(turn).map(
    (reference) =>
      html`<${LongResult} key=${reference.sha256} ...${{ reference, conversationId }} />`,
  );
}

function LongResult({ reference, conversationId }) {
  const { value, error } = store.value.results[reference.sha256] ?? {};
  const isLoaded = value !== undefined;
  const shape = shapeWords(reference);
  const address = (format) => addressOfResult(conversationId, reference, format);
  const whole =
    reference.kind === "text"
      ? { text: address("text") }
      : { csv: address("csv"), json: address("json") };
  return html`<div
    class="value"
    role="group"
    data-testid="long-result"
    data-kind=${reference.kind}
    aria-label=${shape}
  >
    ${
      !isLoaded &&
      html`<header class="value-head"><span class="value-shape">${shape}</span></header>`
    }
    <${OnDemand}
      size=${reference.size}
      atOnce=${reference.size <= AT_ONCE}
      isLoaded=${isLoaded}
      problem=${error}
      load=${() => loadResult(conversationId, reference)}
    >
      ${() =>
        html`<${Value}
          number=${reference.kind === "number"}
          ...${{ value, shape, whole }}
          name="result"
          wide
        />`}
    <//>
  </div>`;
}
