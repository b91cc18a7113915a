// A chart: lines, bars or points over places, with its values on hover, on touch, by the arrow keys, and as a table.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { chartable, chosenWith, formsFor, pointsOf } from "../../charts.js";
import { number } from "../../format.js";
import { locale } from "../../texts.js";
import { theme } from "../../theme.js";
import { html, t } from "../../view.js";
import { Check, Region, Select } from "../parts/controls.js";

const HEIGHT = 260;
const DAY = 86_400_000;

// `kind` of the places: "number", "time" (milliseconds) or "text"; `series`: {name, values} each, with null for a gap.
// `of`: how many points there are, if not all of them are given.
export function Chart({ label, kind, places, series, form, of, height = HEIGHT, tabular = true }) {
  const [asTable, setAsTable] = useState(false);
  return html`<figure class="chart" data-testid="chart" data-form=${form}>
    ${series.length > 1 && html`<${Legend} series=${series} />`}
    ${
      asTable
        ? html`<${Values} ...${{ label, kind, places, series }} />`
        : html`<${Plot} ...${{ label, kind, places, series, form, height }} />`
    }
    <figcaption class="chart-foot">
      ${of && html`<span>${t("chart-part", { drawn: places.length, of })}</span>`}
      ${
        tabular &&
        html`<button
          class="text-button"
          data-testid="chart-as-table"
          onClick=${() => setAsTable(!asTable)}
        >
          ${asTable ? t("chart-show") : t("chart-as-table")}
        </button>`
      }
    </figcaption>
  </figure>`;
}

const Legend = ({ series }) =>
  html`<ul class="chart-legend">
    ${series.map(({ name }, i) => html`<li key=${i}><${Swatch} series=${i} />${name}</li>`)}
  </ul>`;

const Swatch = ({ series }) =>
  html`<svg class="chart-swatch" data-series=${series} viewBox="0 0 18 8" aria-hidden="true">
    <path class="chart-line" d="M0 4h18" />
  </svg>`;

function Values({ label, kind, places, series }) {
  const place = placeWords(kind, places);
  return html`<${Region} class="table-scroll chart-table" label=${label}>
    <table>
      <thead>
        <tr>
          <th scope="col"></th>
          ${series.map(({ name }, i) => html`<th key=${i} scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${places.map(
          (p, j) =>
            html`<tr key=${j}>
              <th scope="row">${place(p)}</th>
              ${series.map(({ values }, i) => html`<td key=${i}>${valueWords(values[j])}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  <//>`;
}

function Plot({ label, kind, places, series, form, height }) {
  const frame = useRef(null);
  const plot = useRef(null);
  const [at, setAt] = useState(null);
  const place = useMemo(() => placeWords(kind, places), [kind, places]);
  const words = (j) =>
    `${place(places[j])}: ${series.map(({ name, values }) => `${name} ${valueWords(values[j])}`).join(", ")}`;
  useLayoutEffect(() => {
    const element = frame.current;
    const drawn = optionsOf({ kind, places, series, form, element, onMove: setAt });
    const width = element.clientWidth;
    const made = new uPlot({ ...drawn.options, width, height }, drawn.data, element);
    const observer = new ResizeObserver(([{ contentRect }]) => {
      const width = Math.round(contentRect.width);
      if (width !== made.width) made.setSize({ width, height });
    });
    plot.current = made;
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [kind, places, series, form, height, theme.value]);
  const moveTo = (j) => {
    const [xs, ...ys] = plot.current.data;
    const y = ys.map((values) => values[j]).find((value) => value !== null) ?? 0;
    const { valToPos } = plot.current;
    plot.current.setCursor({ left: valToPos(xs[j], "x"), top: valToPos(y, "y") });
  };
  const what = t("chart-what", {
    form,
    count: places.length,
    first: place(places[0]),
    last: place(places.at(-1)),
  });
  return html`<div class="chart-plot" style=${{ height: `${height}px` }}>
    <div ref=${frame} role="img" aria-label=${`${label}. ${what}`} data-testid="chart-plot"></div>
    <input
      class="chart-keys"
      type="range"
      min="0"
      max=${places.length - 1}
      step="1"
      value=${at ?? 0}
      data-testid="chart-keys"
      aria-label=${t("chart-points")}
      aria-valuetext=${words(at ?? 0)}
      onInput=${({ target }) => moveTo(Number(target.value))}
      onFocus=${() => moveTo(at ?? 0)}
      onBlur=${() => setAt(null)}
    />
    ${
      at !== null &&
      html`<${Tip} plot=${plot.current} heading=${place(places[at])} series=${series} at=${at} />`
    }
  </div>`;
}

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2]];
const BARS = 0.75; // of a place's width

// The options of uPlot, in the page's colours by way of `element`. Bars and texts stand at the numbers of their places.
function optionsOf({ kind, places, series, form, element, onMove }) {
  const colorOf = (name) => {
    element.style.color = `var(--${name})`;
    return getComputedStyle(element).color;
  };
  const axis = {
    font: `12px ${getComputedStyle(element).fontFamily}`,
    stroke: colorOf("ink-faint"),
    grid: { stroke: colorOf("line"), width: 1 },
    ticks: { show: false },
  };
  const apart = kind === "text" || form === "bar";
  const whole = series.every(({ values }) => values.every(Number.isInteger));
  const surface = colorOf("surface");
  return {
    data: [apart ? places.map((_, j) => j) : places, ...series.map(({ values }) => values)],
    options: {
      ms: 1,
      tzDate: (time) => uPlot.tzDate(new Date(time), "UTC"),
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 9, width: 2, stroke: () => surface },
        ...(form === "scatter" ? { dataIdx: closest } : {}),
      },
      scales: {
        x: { time: kind === "time" && !apart, ...(apart ? { range: beside } : {}) },
        y: form === "bar" ? { range: fromZero } : {},
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 32,
          ...(apart ? besideAxis(kind, places) : { space: 88, values: wordsOf(kind) }),
        },
        {
          ...axis,
          space: 40,
          size: (_, words) => 14 + 7 * Math.max(...(words ?? [""]).map((w) => w.length)),
          filter: (_, ticks) => ticks.map((n) => (whole && !Number.isInteger(n) ? null : n)),
          values: wordsOf("number"),
        },
      ],
      series: [
        {},
        ...series.map((_, i) => {
          const color = colorOf(`series-${i + 1}`);
          return { stroke: color, width: 2, dash: DASHES[i], ...FORMS[form](color, i, series) };
        }),
      ],
      hooks: { setCursor: [({ cursor }) => onMove(cursor.idx ?? null)] },
    },
  };
}

const FORMS = {
  line: () => ({}),
  scatter: (color) => ({ paths: () => null, points: { show: true, size: 6, fill: color } }),
  bar: (color, i, { length }) => ({
    fill: color,
    width: 0,
    points: { show: false },
    paths: uPlot.paths.bars({
      disp: {
        x0: { unit: 1, values: ({ data }) => data[0].map((x) => x + BARS * (i / length - 0.5)) },
        size: { unit: 1, values: () => [BARS / length] },
      },
    }),
  }),
};

const beside = (_, first, last) => [first - 0.5, last + 0.5];
const fromZero = (_, low, high) => uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true);

// Of the points of a series the one that is closest to the cursor, not only across.
function closest(u, n, first) {
  const { left, top } = u.cursor;
  let [best, least] = [first, Infinity];
  u.data[n].forEach((value, j) => {
    if (n === 0 || value === null) return;
    const away = Math.hypot(u.valToPos(u.data[0][j], "x") - left, u.valToPos(value, "y") - top);
    if (away < least) [best, least] = [j, away];
  });
  return best;
}

// As many of the places as there is room for below their bars.
function besideAxis(kind, places) {
  const words = (kind === "time" ? timeWords : (p) => placeWords(kind, p))(places);
  const step = (u) => Math.ceil(places.length / Math.max(2, Math.floor(u.width / 72)));
  return {
    splits: (u) => places.map((_, j) => j).filter((j) => j % step(u) === 0),
    values: (u, splits) => {
      const room = Math.floor((u.width / places.length) * (step(u) / 8));
      return splits.map((j) => shortened(words(places[j]), room));
    },
  };
}

const wordsOf = (kind) => (_, ticks) => {
  const shown = ticks.filter((tick) => tick !== null);
  const words = kind === "time" ? timeWords(shown) : shortWords(shown);
  return ticks.map((tick) => (tick === null ? "" : words(tick)));
};

const shortened = (words, room) =>
  words.length > room ? `${words.slice(0, Math.max(1, room - 1))}…` : words;

const exact = new Intl.NumberFormat(locale, { maximumSignificantDigits: 15 });
const valueWords = (value) => (value === null ? t("chart-gap") : exact.format(value));

function shortWords(ticks) {
  const most = Math.max(...ticks.map(Math.abs));
  const compact = most >= 100_000 ? { notation: "compact" } : {};
  const year = ticks.every((tick) => Number.isInteger(tick) && tick > 999 && tick < 3000);
  const format = new Intl.NumberFormat(locale, {
    maximumSignificantDigits: 6,
    useGrouping: !year,
    ...compact,
  });
  return (tick) => format.format(tick);
}

function timeWords(ticks) {
  const all = (test) => ticks.every((tick) => test(new Date(tick)));
  const parts = all((d) => d % DAY !== 0)
    ? { hour: "numeric", minute: "2-digit" }
    : all((d) => d.getUTCDate() === 1 && d.getUTCMonth() === 0)
      ? { year: "numeric" }
      : all((d) => d.getUTCDate() === 1)
        ? { month: "short", year: "numeric" }
        : all((d) => d % DAY === 0)
          ? { day: "numeric", month: "short" }
          : { day: "numeric", hour: "numeric", minute: "2-digit" };
  const format = new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...parts });
  return (tick) => format.format(tick);
}

function placeWords(kind, places) {
  if (kind === "text") return String;
  if (kind === "number") return (place) => exact.format(place);
  const whole = places.every((place) => place % DAY === 0);
  const format = new Intl.DateTimeFormat(locale, {
    timeZone: "UTC",
    dateStyle: "medium",
    ...(whole ? {} : { timeStyle: "short" }),
  });
  return (place) => format.format(place);
}

// Beside the cursor, on the side with more room. The range's own text says the same to a screen reader.
function Tip({ plot, heading, series, at }) {
  const x = plot.over.offsetLeft + plot.valToPos(plot.data[0][at], "x");
  const { width } = plot;
  const side = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` };
  return html`<div class="chart-tip" data-testid="chart-tip" aria-hidden="true" style=${side}>
    <p class="chart-tip-head">${heading}</p>
    ${series.map(
      ({ name, values }, i) =>
        html`<p key=${i} class="chart-tip-line">
          <${Swatch} series=${i} /><span class="chart-tip-name">${name}</span
          ><span class="chart-tip-value">${valueWords(values[at])}</span>
        </p>`,
    )}
  </div>`;
}

// The chart of a table, with what can be chosen of it.
export function TableChart({ table, label, tall }) {
  const facts = useMemo(() => chartable(table), [table]);
  const [chosen, setChosen] = useState(facts.first);
  const points = useMemo(() => pointsOf(table, facts, chosen), [table, facts, chosen]);
  const { columns, rows } = table;
  const kind = chosen.x === null ? "number" : facts.kinds[chosen.x];
  const change = (part) => setChosen((now) => chosenWith(now, part, facts, rows.length));
  const toggle = (n) =>
    change({
      ys: facts.numbers.filter((y) => (y === n) !== chosen.ys.includes(y)),
    });
  return html`<div class="table-chart" data-testid="table-chart">
    <div class="chart-choices">
      <label class="chart-choice"
        >${t("chart-form")}${" "}<${Select}
          data-testid="chart-form"
          value=${chosen.form}
          options=${formsFor(kind, rows.length).map((form) => [form, t(`chart-${form}`)])}
          choose=${(form) => change({ form })} /></label
      ><label class="chart-choice"
        >${t("chart-across")}${" "}<${Select}
          data-testid="chart-across"
          value=${chosen.x}
          options=${[[null, t("chart-row-number")], ...facts.xs.map((n) => [n, columns[n]])]}
          choose=${(x) => change({ x })} /></label
      >${
        facts.numbers.length > 1 &&
        html`<fieldset class="chart-series">
          <legend class="visually-hidden">${t("chart-columns")}</legend>
          ${facts.numbers
            .filter((n) => n !== chosen.x)
            .slice(0, 24)
            .map(
              (n) =>
                html`<${Check}
                  key=${n}
                  also=${{ class: "chart-choice" }}
                  checked=${chosen.ys.includes(n)}
                  set=${() => toggle(n)}
                  label=${columns[n]}
                />`,
            )}
        </fieldset>`
      }
    </div>
    <${Chart}
      label=${t("chart-of", { what: label })}
      ...${points}
      form=${chosen.form}
      height=${tall ? Math.max(HEIGHT, Math.round(innerHeight * 0.55)) : HEIGHT}
      tabular=${false}
    />
  </div>`;
}
