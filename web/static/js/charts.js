// Charts of tables: which columns can be drawn, what is drawn first, and the points of what was chosen.

const SAMPLE = 10_000; // rows by which a column's kind is judged
const MOST_BARS = 60;
const MOST_SERIES = 6; // as many as there are colours
const MOST_POINTS = 4000;
const DATE = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const isEmpty = (cell) => cell == null || cell === "";
const isNumber = (cell) => typeof cell === "number" && Number.isFinite(cell);
const isTime = (cell) => typeof cell === "string" && DATE.test(cell) && !Number.isNaN(timeOf(cell));

// A day or a moment without a zone is taken as UTC, and drawn as UTC.
export function timeOf(text) {
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(text) && text.length > 10;
  return Date.parse(text.length <= 10 || zoned ? text : `${text.replace(" ", "T")}Z`);
}

// "number", "time", "text", or null for cells of several kinds and for empty columns.
export function columnKind(rows, column) {
  const cells = rows
    .slice(0, SAMPLE)
    .map((row) => row[column])
    .filter((cell) => !isEmpty(cell));
  if (cells.length === 0) return null;
  if (cells.every(isNumber)) return "number";
  if (cells.every(isTime)) return "time";
  return cells.every((cell) => typeof cell === "string") ? "text" : null;
}

// The rows of a text table with its columns of numbers as numbers.
export function typed({ columns, rows }) {
  const numeric = columns.map((_, n) => {
    const cells = rows.map((row) => row[n]).filter((cell) => !isEmpty(cell));
    return cells.length > 0 && cells.every((cell) => NUMBER.test(cell) && keepsItsText(cell));
  });
  const typedCell = (cell, n) => (isEmpty(cell) ? null : numeric[n] ? Number(cell) : cell);
  return { columns, rows: rows.map((row) => columns.map((_, n) => typedCell(row[n], n))) };
}

// Not so 007 and 12345678901234567890, which are names rather than numbers.
const keepsItsText = (cell) => !/^[+-]?0\d/.test(cell) && Math.abs(Number(cell)) <= 2 ** 53;

// The possible charts of this table, and the first: {x, ys, kinds, first}; null if there is nothing to draw.
// `x` and `ys` are numbers of columns; x is null for the rows' own numbers.
export function chartable({ columns, rows }) {
  if (rows.length < 2) return null;
  const kinds = columns.map((_, n) => columnKind(rows, n));
  const numbers = columns.map((_, n) => n).filter((n) => kinds[n] === "number");
  if (numbers.length === 0) return null;
  const labels = (n) =>
    kinds[n] === "text" && rows.length <= MOST_BARS && areDistinct(rows.map((row) => row[n]));
  const rising = numbers.length > 1 ? numbers.find((n) => isRising(rows, n)) : undefined;
  const time = kinds.indexOf("time");
  const text = columns.findIndex((_, n) => labels(n));
  const x = time >= 0 ? time : text >= 0 ? text : (rising ?? null);
  const xs = columns.map((_, n) => n).filter((n) => kinds[n] && (kinds[n] !== "text" || labels(n)));
  const choice = { x, ys: numbers.filter((n) => n !== x), form: "line" };
  if (x !== null && kinds[x] === "text") choice.form = "bar";
  if (x === null && numbers.length > 1) Object.assign(choice, scatterOf(numbers));
  choice.ys = alike(rows, choice.ys).slice(0, MOST_SERIES);
  return { kinds, xs, numbers, first: choice };
}

const scatterOf = ([x, ...ys]) => ({ x, ys: ys.slice(0, 1), form: "scatter" });

const areDistinct = (cells) => new Set(cells).size === cells.length;

const isRising = (rows, n) =>
  rows.every((row, i) => isNumber(row[n]) && (i === 0 || row[n] > rows[i - 1][n]));

// Of several columns those on about the scale of the first: others would be flat lines beside them, or flatten it.
function alike(rows, columns) {
  const sizes = columns.map((n) =>
    rows.reduce((most, row) => Math.max(most, Math.abs(row[n] ?? 0)), 0),
  );
  return columns.filter((_, i) => sizes[i] <= sizes[0] * 20 && sizes[i] * 20 >= sizes[0]);
}

// The forms in which x can be drawn: bars need a few places, a scatter numbers or times.
export function formsFor(kind, count) {
  const forms = kind === "text" ? ["bar", "line"] : ["line", "scatter"];
  return kind !== "text" && count <= MOST_BARS ? ["line", "bar", "scatter"] : forms;
}

// A choice with another part: some columns always remain to be drawn, and the form fits what is across.
export function chosenWith(choice, part, { kinds, numbers }, count) {
  const next = { ...choice, ...part };
  const ys = next.ys.filter((n) => n !== next.x).slice(0, MOST_SERIES);
  const other = choice.ys.find((n) => n !== next.x) ?? numbers.find((n) => n !== next.x) ?? next.x;
  const forms = formsFor(next.x === null ? "number" : kinds[next.x], count);
  return {
    ...next,
    ys: ys.length > 0 ? ys : [other],
    form: forms.includes(next.form) ? next.form : forms[0],
  };
}

// The points of a choice: {kind, places, series, of}. `places` are the values of x in order, with series[i].values[j]
// above places[j]; `of` is the number of rows if only some of them are drawn.
export function pointsOf({ columns, rows }, { kinds }, { x, ys, form }) {
  const kind = x === null ? "number" : kinds[x];
  const place = (row, i) => (x === null ? i + 1 : kind === "time" ? toTime(row[x]) : row[x]);
  let points = rows.map((row, i) => ({ place: place(row, i), row })).filter((p) => p.place != null);
  if (kind !== "text") points.sort((a, b) => a.place - b.place);
  const of = points.length > MOST_POINTS ? points.length : null;
  if (of) points = form === "scatter" ? spread(points) : extremes(points, ys);
  return {
    kind,
    of,
    places: points.map((p) => p.place),
    series: ys.map((n) => ({
      name: columns[n],
      values: points.map(({ row }) => (isNumber(row[n]) ? row[n] : null)),
    })),
  };
}

const toTime = (cell) => (isEmpty(cell) ? null : timeOf(cell));

function spread(points) {
  const step = points.length / MOST_POINTS;
  return Array.from({ length: MOST_POINTS }, (_, i) => points[Math.floor(i * step)]);
}

// Of each stretch the points with the lowest and highest values, so that no peak is lost.
function extremes(points, ys) {
  const stretch = Math.ceil(points.length / (MOST_POINTS / (2 * ys.length)));
  const kept = new Set();
  for (let start = 0; start < points.length; start += stretch)
    for (const n of ys) {
      let [low, high] = [null, null];
      for (let i = start; i < Math.min(start + stretch, points.length); i += 1) {
        const value = points[i].row[n];
        if (!isNumber(value)) continue;
        if (low === null || value < points[low].row[n]) low = i;
        if (high === null || value > points[high].row[n]) high = i;
      }
      [low, high].filter((i) => i !== null).forEach((i) => kept.add(i));
    }
  return [...kept].sort((a, b) => a - b).map((i) => points[i]);
}
