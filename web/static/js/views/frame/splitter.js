// The handle between conversation and panel: dragged, moved by the arrow keys, and reset by a double click.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { LEAST, most, resize } from "../../room.js";
import { dispatch, html, t } from "../../view.js";

const STEP = 16; // pixels of an arrow key; with Shift four times as much

export function Splitter() {
  const handle = useRef(null);
  const [now, setNow] = useState(LEAST);
  const [held, setHeld] = useState(null); // where the pointer would be if the panel had no width
  const width = () => handle.current.parentElement.offsetWidth; // `now` is as old as the last frame
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setNow(width()));
    observer.observe(handle.current.parentElement);
    return () => observer.disconnect();
  }, []);
  const press = (event) => {
    const step = event.shiftKey ? 4 * STEP : STEP;
    const moves = {
      ArrowLeft: () => resize(width() + step),
      ArrowRight: () => resize(width() - step),
      Home: () => resize(LEAST),
      End: () => resize(most()),
      Enter: () => dispatch({ type: "panel_toggled" }),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  };
  const begin = (event) => {
    if (event.button !== 0) return;
    handle.current.setPointerCapture(event.pointerId);
    setHeld(event.clientX + width());
  };
  const move = ({ clientX }) => held !== null && resize(held - clientX);
  return html`<div
    class="splitter"
    role="separator"
    tabindex="0"
    ref=${handle}
    data-testid="splitter"
    data-dragged=${held !== null}
    title=${t("panel-width-how")}
    aria-label=${t("panel-width")}
    aria-orientation="vertical"
    aria-controls="panel"
    aria-valuenow=${now}
    aria-valuemin=${LEAST}
    aria-valuemax=${Math.max(now, most())}
    onKeyDown=${press}
    onPointerDown=${begin}
    onPointerMove=${move}
    onLostPointerCapture=${() => setHeld(null)}
    onDblClick=${() => resize(null)}
  ></div>`;
}
