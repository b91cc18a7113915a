// A picture with room: it fits at first, and is zoomed by buttons, keys and a double click.

import { useRef, useState } from "preact/hooks";
import { percent } from "../../format.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { t } from "../../texts.js";

const STEPS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 8];

export function Picture({ src, name }) {
  const [scale, setScale] = useState(null); // null: as large as fits
  const [failed, setFailed] = useState(false);
  const image = useRef(null);
  const now = () => scale ?? image.current.clientWidth / (image.current.naturalWidth || 1);
  const larger = () => setScale(STEPS.find((step) => step > now() + 0.01) ?? STEPS.at(-1));
  const smaller = () => setScale(STEPS.findLast((step) => step < now() - 0.01) ?? STEPS[0]);
  const keys = {
    "+": larger,
    "=": larger,
    "-": smaller,
    0: () => setScale(null),
    1: () => setScale(1),
  };
  const press = (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  };
  const width = scale && image.current ? `${image.current.naturalWidth * scale}px` : null;
  if (failed) return html`<p class="step-note" role="alert">${t("picture-failed")}</p>`;
  return html`<div class="picture-view">
    <div
      class="zoom"
      tabindex="0"
      role="region"
      aria-label=${name}
      data-fits=${scale === null}
      onKeyDown=${press}
      onDblClick=${() => setScale(scale === null ? 1 : null)}
    >
      <img
        class="zoom-picture"
        data-testid="zoom-picture"
        ref=${image}
        src=${src}
        alt=${name}
        style=${{ width }}
        onError=${() => setFailed(true)}
      />
    </div>
    <div class="zoom-tools" role="group" aria-label=${t("picture-zoom")}>
      <button
        type="button"
        class="icon-button"
        data-testid="zoom-out"
        aria-label=${t("picture-smaller")}
        title=${t("picture-smaller")}
        onClick=${smaller}
      >
        <${Icon} name="zoomOut" />
      </button>
      <button
        type="button"
        class="button small"
        data-testid="zoom-fit"
        aria-pressed=${scale === null ? "true" : "false"}
        onClick=${() => setScale(scale === null ? 1 : null)}
      >
        ${scale === null ? t("picture-fits") : percent(scale)}
      </button>
      <button
        type="button"
        class="icon-button"
        data-testid="zoom-in"
        aria-label=${t("picture-larger")}
        title=${t("picture-larger")}
        onClick=${larger}
      >
        <${Icon} name="zoomIn" />
      </button>
    </div>
  </div>`;
}
