// Views that are loaded when they are first shown: those that few people need, and that bring a library.

import { useEffect, useState } from "preact/hooks";
import { fileSize } from "./format.js";
import { html } from "./html.js";
import { t } from "./texts.js";
import { Spinner } from "./icons.js";
import { ErrorWords } from "./views/parts/problem.js";

// `load` imports a module and returns the view in it.
export function lazy(load) {
  let loaded = null;
  return function Lazy(props) {
    const [, redraw] = useState(0);
    const [failed, setFailed] = useState(false);
    const begin = async () => {
      setFailed(false);
      try {
        loaded = await load();
        redraw((n) => n + 1);
      } catch (error) {
        console.info("not loaded:", error.message);
        setFailed(true);
      }
    };
    useEffect(() => {
      if (!loaded) begin();
    }, []);
    if (loaded) return html`<${loaded} ...${props} />`;
    if (!failed) return html`<${Loading} />`;
    return html`<${Retry} words=${t("part-not-loaded")} again=${begin} />`;
  };
}

const Retry = ({ words, again }) =>
  html`<p class="step-note" role="alert">
    ${words}${" "}<button class="button" onClick=${again}>${t("try-again")}</button>
  </p>`;

// Content that is loaded at once, or when a person wants it, if it is large (`size`, in bytes). `children`
// draws it; `problem` is the reason why it was not loaded.
export function OnDemand({ size, atOnce, isLoaded, problem, load, children }) {
  const [wanted, setWanted] = useState(atOnce);
  useEffect(() => {
    if (wanted && !isLoaded && !problem) load();
  }, [wanted]);
  if (isLoaded) return children();
  if (!wanted)
    return html`<button class="code-more" onClick=${() => setWanted(true)}>
      ${t("value-show", { size: fileSize(size) })}
    </button>`;
  if (!problem) return html`<${Loading} />`;
  const words = t("value-not-loaded", { message: problem.message });
  return html`<${Retry} words=${words} again=${load} />`;
}

// A view of what a request gives, which is made when it is first drawn; `again()` makes it once more.
export function Loaded({ view, request, ...more }) {
  const [{ value, problem }, setState] = useState({});
  const [number, setNumber] = useState(0);
  const again = () => setNumber(number + 1);
  useEffect(() => {
    request().then(
      (given) => setState({ value: given }),
      (problem) => setState({ problem }),
    );
  }, [number]);
  if (problem) return html`<p class="step-note"><${ErrorWords} error=${problem} /></p>`;
  return value ? html`<${view} ...${more} ...${value} again=${again} />` : html`<${Loading} />`;
}

export const Loading = () =>
  html`<p class="step-note">
    <${Spinner} label=${t("loading")} />
  </p>`;
