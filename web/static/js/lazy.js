// Views that are loaded when they are first shown: those that few people need, and that bring a library.

import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./texts.js";
import { Spinner } from "./icons.js";

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
    return html`<p class="step-note" role="alert">
      ${t("part-not-loaded")}${" "}<button class="button" onClick=${begin}>
        ${t("try-again")}
      </button>
    </p>`;
  };
}

export const Loading = () =>
  html`<p class="step-note">
    <${Spinner} label=${t("loading")} />
  </p>`;
