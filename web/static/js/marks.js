// The matches of a search in the steps, marked where they are drawn, and the current one.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { patternOf } from "./feed.js";

const BLOCKS = "p, pre, li, dt, dd, h3, .step-outcome, .attempt, .tool-name, .call";
const FOUND = "found";
const HERE = "found-here";

// {at, count} of the places, counted from 1.
export function useMarks(scroller, view, turn, stay) {
  const [found, setFound] = useState({ at: 0, count: 0 });
  const gone = useRef("");
  const text = view.search?.text ?? "";
  useLayoutEffect(() => {
    const places = text.trim() ? placesOf(scroller.current, view, patternOf(text)) : [];
    const at = places.length > 0 ? modulo(view.search.at, places.length) : 0;
    mark(places, at);
    setFound((was) =>
      was.count === places.length && was.at === at + 1
        ? was
        : { at: places.length > 0 ? at + 1 : 0, count: places.length },
    );
    const goal = places.length > 0 ? `${turn.id} ${text} ${view.search.at}` : "";
    if (goal && goal !== gone.current) {
      stay();
      reveal(places[at], scroller.current);
    }
    gone.current = goal;
  }, [view, turn]);
  useEffect(() => () => mark([], 0), []);
  return found;
}

const modulo = (n, size) => ((n % size) + size) % size;

// Of each step that has the words: where they are drawn, or the step itself where they aren't.
function placesOf(scroller, { matches }, pattern) {
  return matches.flatMap((path) => {
    const step = scroller.querySelector(`[data-path="${CSS.escape(path)}"]`);
    if (!step) return [];
    const ranges = rangesIn(step, pattern);
    return ranges.length > 0 ? ranges : [rangeOf(step)];
  });
}

function rangeOf(element) {
  const range = new Range();
  range.selectNode(element.querySelector(".step-name, .plan-request") ?? element);
  return range;
}

function rangesIn(step, pattern) {
  const texts = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
  const blocks = new Map(); // the text nodes of each block: colours split a line into many
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const { parentElement } = node;
    if (parentElement.closest("[data-path]") !== step || parentElement.closest(".visually-hidden"))
      continue;
    const block = parentElement.closest(BLOCKS) ?? parentElement;
    blocks.set(block, [...(blocks.get(block) ?? []), node]);
  }
  return [...blocks.values()].flatMap((nodes) => rangesOf(nodes, pattern));
}

function rangesOf(nodes, pattern) {
  const whole = nodes.map((node) => node.data).join("");
  return [...whole.matchAll(pattern)].map(({ index, 0: { length } }) => {
    const range = new Range();
    range.setStart(...placeAt(nodes, index));
    range.setEnd(...placeAt(nodes, index + length, true));
    return range;
  });
}

function placeAt(nodes, offset, end = false) {
  let left = offset;
  for (const node of nodes) {
    if (left < node.length || (end && left === node.length)) return [node, left];
    left -= node.length;
  }
  return [nodes.at(-1), nodes.at(-1).length];
}

// Browsers without highlights still go from place to place.
function mark(places, at) {
  if (!globalThis.Highlight) return;
  CSS.highlights.set(FOUND, new Highlight(...places.filter((_, i) => i !== at)));
  CSS.highlights.set(HERE, new Highlight(...places.slice(at, at + 1)));
}

// Scrolls all that scrolls around a place, so that it stands in the middle.
function reveal(range, scroller) {
  const { commonAncestorContainer: node } = range;
  for (let box = node.parentElement; box; box = box === scroller ? null : box.parentElement) {
    if (box.scrollHeight <= box.clientHeight) continue;
    const { top, height } = range.getBoundingClientRect();
    box.scrollTop += top + height / 2 - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
}
