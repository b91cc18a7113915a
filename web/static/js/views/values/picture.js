// A picture with room: it fits at first, and is zoomed by buttons, keys and a double click.

import { useRef, useState } from "preact/hooks";
import { percent } from "../../format.js";
import { html, t } from "../../view.js";
import { IconButton, Region } from "../parts/controls.js";

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
    <${Region}
      class="zoom"
      label=${name}
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
    <//>
    <div class="zoom-tools" role="group" aria-label=${t("picture-zoom")}>
      <${IconButton}
        icon="zoomOut"
        label=${t("picture-smaller")}
        large
        data-testid="zoom-out"
        onClick=${smaller}
      />
      <button
        class="button small"
        data-testid="zoom-fit"
        aria-pressed=${scale === null}
        onClick=${() => setScale(scale === null ? 1 : null)}
      >
        ${scale === null ? t("picture-fits") : percent(scale)}
      </button>
      <${IconButton}
        icon="zoomIn"
        label=${t("picture-larger")}
        large
        data-testid="zoom-in"
        onClick=${larger}
      />
    </div>
  </div>`;
}
