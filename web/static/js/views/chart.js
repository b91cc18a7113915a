// A chart: lines, bars or points over places, with its values on hover, on touch, by the arrow keys, and as a table.

import { scaleBand, scaleLinear, scaleUtc } from "d3-scale";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { chartable, chosenWith, formsFor, nearest, pointsOf } from "../charts.js";
import { number } from "../format.js";
import { html } from "../html.js";
import { locale, t } from "../texts.js";

const MARGIN = { top: 12, right: 16, bottom: 28 };
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
          type="button"
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
  return html`<div class="table-scroll chart-table" tabindex="0" role="region" aria-label=${label}>
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
  </div>`;
}

function Plot({ label, kind, places, series, form, height }) {
  const [frame, width] = useWidth();
  const [at, setAt] = useState(null);
  const id = useId();
  const drawn = useMemo(
    () => width > 0 && layout({ kind, places, series, form, width, height }),
    [kind, places, series, form, width, height],
  );
  const place = useMemo(() => placeWords(kind, places), [kind, places]);
  const words = (j) =>
    `${place(places[j])}: ${series.map(({ name, values }) => `${name} ${valueWords(values[j])}`).join(", ")}`;
  const point = (event) => {
    const box = frame.current.getBoundingClientRect();
    setAt(drawn.nearest(event.clientX - box.left, event.clientY - box.top));
  };
  const keys = useRef(null);
  return html`<div
    class="chart-plot"
    ref=${frame}
    style=${{ height: `${height}px` }}
    onPointerMove=${drawn && point}
    onPointerDown=${drawn && point}
    onPointerLeave=${() => setAt(null)}
  >
    ${
      drawn &&
      html`<svg
          width=${width}
          height=${height}
          role="img"
          aria-labelledby=${`${id}-title`}
          aria-describedby=${`${id}-what`}
        >
          <title id=${`${id}-title`}>${label}</title>
          <desc id=${`${id}-what`}>
            ${t("chart-what", {
              form,
              count: places.length,
              first: place(places[0]),
              last: place(places.at(-1)),
            })}
          </desc>
          <g aria-hidden="true">
            <${Axes} ...${drawn} width=${width} height=${height} />
            ${series.map((_, i) => html`<g key=${i} data-series=${i}>${drawn.marks[i]}</g>`)}
            ${at !== null && html`<${Cursor} ...${drawn} at=${at} height=${height} />`}
          </g>
        </svg>
        <input
          class="chart-keys"
          type="range"
          min="0"
          max=${places.length - 1}
          step="1"
          ref=${keys}
          value=${at ?? 0}
          data-testid="chart-keys"
          aria-label=${t("chart-points")}
          aria-valuetext=${words(at ?? 0)}
          onInput=${({ target }) => setAt(Number(target.value))}
          onFocus=${() => setAt((now) => now ?? 0)}
          onBlur=${() => setAt(null)}
        />
        ${
          at !== null &&
          html`<${Tip}
            x=${drawn.positions[at]}
            width=${width}
            heading=${place(places[at])}
            series=${series}
            at=${at}
          />`
        }`
    }
  </div>`;
}

function useWidth() {
  const frame = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) =>
      setWidth(Math.round(contentRect.width)),
    );
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return [frame, width];
}

// Everything that is drawn, in pixels.
function layout({ kind, places, series, form, width, height }) {
  const y = scaleLinear(extent(series, form), [height - MARGIN.bottom, MARGIN.top]).nice(5);
  const whole = series.every(({ values }) => values.every(Number.isInteger));
  const ticks = y.ticks(height < 200 ? 2 : 5).filter((tick) => !whole || Number.isInteger(tick));
  const tickWords = ticks.map(shortWords(ticks));
  const left = 12 + 7 * Math.max(...tickWords.map((words) => words.length));
  const x = scaleOf(kind, places, form, [left, width - MARGIN.right]);
  const positions = places.map(x.at);
  const point = (i) => (value, j) => value !== null && [positions[j], y(value)];
  return {
    positions,
    nearest: (px, py) => {
      if (form !== "scatter") return nearest(positions, px);
      const away = (j) =>
        Math.min(
          ...series.map(({ values }) =>
            values[j] === null ? Infinity : Math.hypot(positions[j] - px, y(values[j]) - py),
          ),
        );
      return places.reduce((best, _, j) => (away(j) < away(best) ? j : best), 0);
    },
    dots: (j) =>
      series.map(({ values }) => (values[j] === null ? null : [positions[j], y(values[j])])),
    across: ticks.map((tick, n) => ({ y: y(tick), words: tickWords[n], zero: tick === 0 })),
    along: x.ticks,
    left,
    marks: series.map(({ values }, i) =>
      MARKS[form]({
        points: values.map(point(i)),
        bar: x.bar && {
          width: x.bar / series.length,
          shift: (x.bar / series.length) * i - x.bar / 2,
        },
        ground: y(0),
      }),
    ),
  };
}

const path = (d, type) => html`<path class=${type} d=${d} />`;
const near = (n) => Math.round(n * 10) / 10;

const MARKS = {
  line: ({ points }) => {
    const alone = (p, j) => p && !points[j - 1] && !points[j + 1];
    const line = points
      .map((p, j) => (p ? `${points[j - 1] ? "L" : "M"}${near(p[0])} ${near(p[1])}` : ""))
      .join("");
    return [path(line, "chart-line"), path(dots(points.filter(alone)), "chart-dots")];
  },
  scatter: ({ points }) => path(dots(points.filter(Boolean)), "chart-dots"),
  bar: ({ points, bar, ground }) =>
    path(
      points
        .filter(Boolean)
        .map(
          ([x, y]) =>
            `M${near(x + bar.shift)} ${near(ground)}V${near(y)}h${near(Math.max(1, bar.width - 1))}V${near(ground)}z`,
        )
        .join(""),
      "chart-bar",
    ),
};

// All dots of a series are one path, so that thousands are drawn at once.
const dots = (points) => points.map(([x, y]) => `M${near(x)} ${near(y)}h0`).join("");

function extent(series, form) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of series)
    for (const value of values)
      if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) return [0, 1];
  if (form === "bar" || (low > 0 && low < high / 2))
    [low, high] = [Math.min(0, low), Math.max(0, high)];
  return low === high
    ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2]
    : [low, high];
}

// Where each place stands, and the words below the axis.
function scaleOf(kind, places, form, [left, right]) {
  const room = Math.max(2, Math.floor((right - left) / 88));
  if (kind === "text" || form === "bar") {
    const band = scaleBand(
      places.map((_, j) => j),
      [left, right],
    )
      .paddingInner(0.25)
      .paddingOuter(0.15);
    const at = (_, j) => band(j) + band.bandwidth() / 2;
    const step = Math.ceil(places.length / Math.max(2, Math.floor((right - left) / 64)));
    const place = kind === "time" ? timeWords(places) : placeWords(kind, places);
    const room = Math.floor((band.step() * step) / 7);
    const ticks = places.map((p, j) => ({ x: at(p, j), words: shortened(place(p), room) }));
    return { at, bar: band.bandwidth(), ticks: ticks.filter((_, j) => j % step === 0) };
  }
  const ends = [Math.min(...ranged(places)), Math.max(...ranged(places))];
  const inside = [left + 6, right - 6];
  const scale = (kind === "time" ? scaleUtc : scaleLinear)(
    ends[0] === ends[1] ? [ends[0] - 1, ends[1] + 1] : ends,
    inside,
  );
  const ticks = scale.ticks(room);
  const words = kind === "time" ? timeWords(ticks) : shortWords(ticks);
  return {
    at: (p) => scale(p),
    ticks: ticks.map((tick) => ({ x: scale(tick), words: words(tick) })),
  };
}

const ranged = (places) => [places[0], places.at(-1)]; // which are in order

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

function Axes({ across, along, left, width, height }) {
  return html`${across.map(
    ({ y, words, zero }, n) =>
      html`<g key=${`y${n}`}
        ><path
          class="chart-grid"
          data-zero=${zero}
          d=${`M${left} ${near(y)}H${width - MARGIN.right}`}
        /><text
          class="chart-tick"
          x=${left - 8}
          y=${near(y)}
          text-anchor="end"
          dominant-baseline="central"
          >${words}</text
        ></g
      >`,
  )}
  ${along.map(
    ({ x, words }, n) =>
      html`<text key=${`x${n}`} class="chart-tick" x=${near(x)} y=${height - 8} text-anchor="middle"
        >${words}</text
      >`,
  )}`;
}

function Cursor({ positions, dots: dotsAt, at, height }) {
  return html`<path
      class="chart-cursor"
      d=${`M${near(positions[at])} ${MARGIN.top}V${height - MARGIN.bottom}`}
    />
    ${dotsAt(at).map(
      (dot, i) =>
        dot &&
        html`<circle
          key=${i}
          class="chart-dot"
          data-series=${i}
          cx=${near(dot[0])}
          cy=${near(dot[1])}
          r="4"
        />`,
    )}`;
}

// Beside the cursor, on the side with more room. The range's own text says the same to a screen reader.
function Tip({ x, width, heading, series, at }) {
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
        >${t("chart-form")}${" "}<select
          class="select"
          data-testid="chart-form"
          value=${chosen.form}
          onChange=${(e) => change({ form: e.target.value })}
        >
          ${formsFor(kind, rows.length).map(
            (form) => html`<option key=${form} value=${form}>${t(`chart-${form}`)}</option>`,
          )}
        </select></label
      ><label class="chart-choice"
        >${t("chart-across")}${" "}<select
          class="select"
          data-testid="chart-across"
          value=${String(chosen.x)}
          onChange=${(e) =>
            change({ x: e.target.value === "null" ? null : Number(e.target.value) })}
        >
          <option value="null">${t("chart-row-number")}</option>
          ${facts.xs.map((n) => html`<option key=${n} value=${String(n)}>${columns[n]}</option>`)}
        </select></label
      >${
        facts.numbers.length > 1 &&
        html`<fieldset class="chart-series">
          <legend class="visually-hidden">${t("chart-columns")}</legend>
          ${facts.numbers
            .filter((n) => n !== chosen.x)
            .slice(0, 24)
            .map(
              (n) =>
                html`<label key=${n} class="chart-choice"
                  ><input
                    type="checkbox"
                    checked=${chosen.ys.includes(n)}
                    onChange=${() => toggle(n)}
                  />${columns[n]}</label
                >`,
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
