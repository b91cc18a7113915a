// The graph of the stages, with the way that the turn took, in a dialog.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { marksOf } from "../../course.js";
import { stepWords } from "../../format.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { loadGraph } from "../../loading.js";
import { t } from "../../texts.js";
import { Problem } from "../parts/problem.js";

export function GraphDialog({ course, graph, close }) {
  const dialog = useRef(null);
  useLayoutEffect(() => dialog.current.showModal(), []);
  return html`<dialog
    class="dialog course-dialog"
    ref=${dialog}
    data-testid="graph-dialog"
    aria-labelledby="course-title"
    closedby="any"
    onClose=${close}
  >
    <div class="dialog-head">
      <h2 class="popover-title" id="course-title">${t("graph")}</h2>
      <button
        type="button"
        class="icon-button small"
        aria-label=${t("graph-close")}
        onClick=${() => dialog.current.close()}
      >
        <${Icon} name="cross" />
      </button>
    </div>
    <${Drawing} course=${course} graph=${graph} />
  </dialog>`;
}

function Drawing({ course, graph }) {
  const place = useRef(null);
  const svg = graph?.svg;
  useEffect(() => {
    if (!svg) loadGraph();
  }, []);
  useLayoutEffect(() => {
    if (svg)
      place.current.replaceChildren(
        new DOMParser().parseFromString(svg, "image/svg+xml").documentElement,
      );
  }, [svg]);
  useLayoutEffect(() => {
    if (svg) mark(place.current, marksOf(course));
  }, [svg, course]);
  useEffect(() => {
    if (!svg) return;
    const { current } = place;
    const middle = new ResizeObserver(() => {
      current.scrollLeft = (current.scrollWidth - current.clientWidth) / 2; // most ways lead through it
    });
    middle.observe(current);
    return () => middle.disconnect();
  }, [svg]);
  if (graph?.error) return html`<${Problem} title=${t("graph-not-shown")} ...${graph.error} />`;
  if (!svg)
    return html`<div class="nothing">
      <span class="spinner" role="img" aria-label=${t("loading")}></span>
    </div>`;
  return html`<div
    class="course-graph"
    data-testid="graph"
    ref=${place}
    tabindex="0"
    role="region"
    aria-label=${t("graph")}
  ></div>`;
}

function mark(drawing, { nodes, taken }) {
  for (const node of drawing.querySelectorAll("g.node")) {
    node.dataset.state = nodes[node.dataset.node] ?? "waiting";
    node.querySelector("text").textContent = stepWords(node.dataset.node);
  }
  for (const { dataset } of drawing.querySelectorAll("g.transition"))
    dataset.taken = taken.has(`${dataset.source} ${dataset.target}`);
}
