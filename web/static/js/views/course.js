// The stages that a turn reached, in order, with the current one marked; on demand the whole graph.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { marksOf } from "../course.js";
import { duration, STATE_WORDS } from "../format.js";
import { html } from "../html.js";
import { StateIcon } from "../icons.js";
import { loadGraph } from "../loading.js";
import { memo } from "../memo.js";
import { Disclosure } from "./disclosure.js";
import { Elapsed } from "./elapsed.js";
import { Problem } from "./problem.js";

// Shorter times would only say that there was nothing to do.
const SHOWN = 0.01;

// On one line, which keeps the current stage in view.
export function CourseLine({ course, skew }) {
  const line = useRef(null);
  useLayoutEffect(() => {
    const { current } = line;
    const observer = new ResizeObserver(() => toEnd(current));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => toEnd(line.current), [course.length]);
  return html`<div class="course-line" ref=${line} tabindex="0" role="region" aria-label="Path of the turn"><${Course} course=${course} label="Stages of the turn" skew=${skew} /></div>`;
}

const toEnd = (line) => void (line.scrollLeft = line.scrollWidth);

export const Course = memo(
  ({ course, label, skew }) => html`<ol class="course" data-testid="course" aria-label=${label}>
  ${course.map((visit, i) => html`<${Visit} key=${i} ...${visit} skew=${skew} />`)}
</ol>`,
);

function Visit({ node, symbol, state, startedAt, seconds, skew }) {
  return html`<li class="course-stage" data-stage=${node} data-state=${state} aria-current=${state === "running" ? "step" : null} title=${symbol || null}>
    <span class="course-icon"><${StateIcon} state=${state} /></span>
    <span class="course-name">${node}</span><span class="visually-hidden">: ${STATE_WORDS[state]}</span>
    ${state === "running" ? html`<${Elapsed} since=${startedAt} skew=${skew} />` : seconds >= SHOWN && html`<span class="time">${duration(seconds)}</span>`}
  </li>`;
}

export function WholeGraph({ course, graph }) {
  return html`<div class="course-whole"><${Disclosure} label="Graph of the stages"><${Drawing} course=${course} graph=${graph} /><//></div>`;
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
  if (graph?.error) return html`<${Problem} title="The graph can’t be shown" ...${graph.error} />`;
  if (!svg)
    return html`<div class="nothing"><span class="spinner" role="img" aria-label="Loading"></span></div>`;
  return html`<div class="course-graph" data-testid="graph" ref=${place} tabindex="0" role="region" aria-label="Graph of the stages"></div>`;
}

function mark(drawing, { nodes, taken }) {
  for (const { dataset } of drawing.querySelectorAll("g.node"))
    dataset.state = nodes[dataset.node] ?? "waiting";
  for (const { dataset } of drawing.querySelectorAll("g.transition"))
    dataset.taken = taken.has(`${dataset.source} ${dataset.target}`);
}
