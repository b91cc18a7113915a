// The graph of the stages, with the way that the turn took, in a dialog.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { marksOf } from "../../course.js";
import { stepWords } from "../../format.js";
import { Loading } from "../../lazy.js";
import { loadGraph } from "../../loading.js";
import { html, t } from "../../view.js";
import { Problem } from "../parts/problem.js";
import { Dialog } from "../parts/dialog.js";
import { Region } from "../parts/controls.js";

export const GraphDialog = ({ course, graph, close }) =>
  html`<${Dialog} kind="course-dialog" title=${t("graph")} testid="graph-dialog" close=${close}>
    <${Drawing} course=${course} graph=${graph} />
  <//>`;

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
    if (!svg) return;
    mark(place.current, marksOf(course));
    const resized = new ResizeObserver(() => showWay(place.current));
    resized.observe(place.current);
    return () => resized.disconnect();
  }, [svg, course]);
  if (graph?.error) return html`<${Problem} title=${t("graph-not-shown")} ...${graph.error} />`;
  if (!svg) return html`<${Loading} />`;
  return html`<${Region}
    class="course-graph"
    label=${t("graph")}
    data-testid="graph"
    ref=${place}
  />`;
}

// Scrolls to the middle of the way that was taken, and down to where it is now.
function showWay(drawing) {
  const names = [...drawing.querySelectorAll("g.node:not([data-state=waiting]) text")];
  const middles = names.map((name) => name.getAttribute("x"));
  const { x, width } = drawing.firstElementChild.viewBox.baseVal;
  const middle = (Math.min(...middles) / 2 + Math.max(...middles) / 2 - x) / width;
  drawing.scrollLeft = middle * drawing.scrollWidth - drawing.clientWidth / 2;
  drawing.querySelector("[data-state=running]")?.scrollIntoView({ block: "center" });
}

function mark(drawing, { nodes, taken }) {
  for (const node of drawing.querySelectorAll("g.node")) {
    node.dataset.state = nodes[node.dataset.node] ?? "waiting";
    node.querySelector("text").textContent = stepWords(node.dataset.node);
  }
  for (const { dataset } of drawing.querySelectorAll("g.transition"))
    dataset.taken = taken.has(`${dataset.source} ${dataset.target}`);
}
