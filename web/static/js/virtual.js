// Rows of a long list or table of which only those near the visible part are drawn.
//
// The browser's own search finds only drawn rows, so a view with virtual rows offers a filter. A screen reader
// hears of the others by aria-rowcount and aria-rowindex (tables), or aria-setsize and aria-posinset (lists).

import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";

globalThis.process ??= { env: {} }; // which the library asks for its build mode

const ALL = 100; // so few rows are drawn all

let core = null;
const loadCore = async () => (core ??= await import("@tanstack/virtual-core"));

// `scroller` is a ref to what scrolls, `size` the height of a row in pixels (or a function of its index), `margin`
// the pixels of the scroller above the first row, `key` a function of an index. Until somebody comes to a long list, by
// scroll or by focus, only its first rows are drawn, and the library isn't loaded.
//
// Returns `rows`, {index, key, gap} each, where `gap` is the height to leave free before the row; `after`, the height
// to leave free behind the last; `show(index)`, which scrolls to a row; and `measure`, a ref for rows that differ in
// height. Each row's element has the attribute data-index; the row with the focus stays drawn.
export function useVirtual({ count, size, scroller, margin = 0, key = (index) => index }) {
  const [, redraw] = useReducer((n) => n + 1, 0);
  const virtualizer = useRef(null);
  const wanted = useRef(null); // the row to scroll to, once that can be done
  const focused = useFocusedRow(scroller);
  const whole = count <= ALL;
  const sizeOf = typeof size === "function" ? size : () => size;
  const load = () => loadCore().then(redraw, (error) => console.info("not loaded:", error.message));
  useEffect(() => {
    if (whole || core) return;
    const element = scroller.current;
    const comes = ["scroll", "focusin"];
    for (const event of comes) element.addEventListener(event, load);
    return () => comes.forEach((event) => element.removeEventListener(event, load));
  }, [whole, core]);
  if (core) {
    const options = {
      count,
      enabled: !whole,
      estimateSize: sizeOf,
      getItemKey: key,
      getScrollElement: () => scroller.current,
      scrollMargin: margin,
      scrollPaddingStart: margin,
      overscan: 8,
      initialRect: scroller.current?.getBoundingClientRect(),
      initialOffset: scroller.current?.scrollTop,
      observeElementRect: core.observeElementRect,
      observeElementOffset: core.observeElementOffset,
      scrollToFn: core.elementScroll,
      onChange: redraw,
      rangeExtractor: (range) =>
        withFocused(core.defaultRangeExtractor(range), focused.current, count),
    };
    virtualizer.current ??= new core.Virtualizer(options);
    virtualizer.current.setOptions(options);
  }
  const { current } = virtualizer;
  useLayoutEffect(() => current?._didMount(), [current]);
  useLayoutEffect(() => {
    current?._willUpdate();
    if (current && wanted.current !== null) current.scrollToIndex(wanted.current);
    if (current) wanted.current = null;
  });
  if (whole || !current) {
    const drawn = Math.min(count, ALL);
    return {
      rows: Array.from({ length: drawn }, (_, index) => ({ index, key: key(index), gap: 0 })),
      after: sum(drawn, count, sizeOf),
      show: (index) => {
        const row = rowAt(scroller.current, index);
        if (row) return row.scrollIntoView({ block: "nearest" });
        wanted.current = index;
        load();
      },
      measure: null,
    };
  }
  let end = margin;
  const rows = current.getVirtualItems().map((item) => {
    const row = { index: item.index, key: item.key, gap: item.start - end };
    end = item.end;
    return row;
  });
  return {
    rows,
    after: Math.max(0, current.getTotalSize() + margin - end),
    show: (index) => current.scrollToIndex(index),
    measure: current.measureElement,
  };
}

function sum(from, to, size) {
  let total = 0;
  for (let index = from; index < to; index += 1) total += size(index);
  return total;
}

export const rowAt = (scroller, index) => scroller?.querySelector(`[data-index="${index}"]`);

// The drawn rows and the one with the focus, in order: a row that vanished would take the focus with it.
export function withFocused(range, focused, count) {
  if (focused === null || focused >= count || range.includes(focused)) return range;
  return [...range, focused].sort((a, b) => a - b);
}

function useFocusedRow(scroller) {
  const focused = useRef(null);
  useEffect(() => {
    const element = scroller.current;
    const enter = ({ target }) => {
      const row = target.closest("[data-index]");
      focused.current = row ? Number(row.dataset.index) : null;
    };
    const leave = () => (focused.current = null);
    element?.addEventListener("focusin", enter);
    element?.addEventListener("focusout", leave);
    return () => {
      element?.removeEventListener("focusin", enter);
      element?.removeEventListener("focusout", leave);
    };
  }, [scroller.current]);
  return focused;
}
