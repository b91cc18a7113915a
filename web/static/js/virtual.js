// Rows of a long list or table of which only some are drawn.
//
// The browser's own search finds only drawn rows, so a view of such rows offers a filter. A screen reader hears of
// the others by aria-rowcount and aria-rowindex (tables), or aria-setsize and aria-posinset (lists).

import { useEffect, useRef, useState } from "preact/hooks";

const STEP = 8; // rows that are scrolled before others are drawn
const BEYOND = 8; // rows that are drawn above and below those in view
const FEW = 100; // rows that are drawn all
const PORTION = 25; // rows by which a list grows

// Of rows of one height, `size` in pixels, those near the visible part of `scroller`, a ref. Each row's element has
// the attribute data-index; the row with the focus stays drawn, and few rows are drawn all.
//
// Returns `rows`, {index, gap} each, where `gap` is the height to leave free before the row; `after`, the height to
// leave free behind the last; and `show(index)`, which scrolls to a row.
export function useWindow({ count, size, scroller }) {
  const [first, setFirst] = useState(0);
  const [shown, setShown] = useState(4 * BEYOND);
  useEffect(() => {
    const element = scroller.current;
    const look = () => {
      setFirst(STEP * Math.floor(element.scrollTop / size / STEP));
      setShown(STEP + Math.ceil(element.clientHeight / size));
    };
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const few = count <= FEW;
  const to = few ? count : Math.min(count, first + shown + BEYOND);
  const from = few ? 0 : Math.max(0, Math.min(first, to - shown) - BEYOND);
  const range = Array.from({ length: to - from }, (_, n) => from + n);
  const focused = scroller.current?.querySelector(":focus")?.closest("[data-index]");
  const drawn = withFocused(range, focused ? Number(focused.dataset.index) : null, count);
  const gapAt = (n, index) => size * (index - (drawn[n - 1] ?? -1) - 1);
  const show = (index) => {
    const element = scroller.current;
    const [top, room] = [size * index, element.clientHeight - size];
    if (top < element.scrollTop || top > element.scrollTop + room)
      element.scrollTop = top - room / 2;
  };
  return {
    rows: drawn.map((index, n) => ({ index, gap: gapAt(n, index) })),
    after: gapAt(drawn.length, count),
    show,
  };
}

export const rowAt = (scroller, index) => scroller?.querySelector(`[data-index="${index}"]`);

// The drawn rows and the one with the focus, in order: a row that vanished would take the focus with it.
export function withFocused(range, focused, count) {
  if (focused === null || focused >= count || range.includes(focused)) return range;
  return [...range, focused].sort((a, b) => a - b);
}

// How many rows of a list are drawn: more whenever their end comes near the view, and as many as `row` needs. `end`
// is a ref for an element behind them.
export function useGrowing(count, scroller, row = 0) {
  const [most, setMost] = useState(PORTION);
  const end = useRef(null);
  const drawn = Math.min(count, Math.max(most, row + PORTION));
  useEffect(() => {
    if (drawn >= count) return undefined;
    const near = ([{ isIntersecting }]) => isIntersecting && setMost(drawn + PORTION);
    const observer = new IntersectionObserver(near, {
      root: scroller.current,
      rootMargin: "1000px 0px",
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [drawn, count]);
  return { drawn, end };
}
