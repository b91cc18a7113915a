// Limits for the Markdown renderer: text must be short and shallow enough that rendering ends soon
// and the page can be drawn.

const LONGEST = 200_000;
const DEEPEST = 40;
const MOST_CELLS = 20_000;
const MOST_DELIMITERS = 2_000;

const MARKERS = /^(?:[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))*/;
const LIST_ITEM = /^([ \t]*)(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const BETWEEN = /[\s\p{P}\p{S}]/u;
export const FENCED = /^ {0,3}(`{3,}|~{3,}).*\n[^]*?(?:^ {0,3}\1|$(?![^]))/gm;

// Whether a text can be rendered as Markdown; if not, it is shown as it is.
export function canRender(text) {
  if (text.length > LONGEST) return false;
  const lines = text.split("\n");
  return !(
    lines.some((line) => markersOf(line) > DEEPEST) ||
    indents(lines) > DEEPEST ||
    cells(lines) > MOST_CELLS ||
    delimiters(text) > DEEPEST
  );
}

// The deepest nesting of tags in rendered markup.
export function isShallow(markup) {
  let depth = 0;
  for (const [tag, name] of markup.matchAll(/<\/?([a-z][a-z0-9]*)[^>]*>/gi)) {
    if (tag[1] === "/") depth = Math.max(0, depth - 1);
    else if (!EMPTY.has(name.toLowerCase())) depth += 1;
    if (depth > 4 * DEEPEST) return false;
  }
  return true;
}

const EMPTY = new Set(
  "br hr img input wbr col area base embed link meta param source track".split(" "),
);

function markersOf(line) {
  const [found] = line.match(MARKERS);
  return found.match(/>|[-+*]|\d+[.)]/g)?.length ?? 0;
}

const indents = (lines) => new Set(lines.map((line) => line.match(LIST_ITEM)?.[1].length)).size;

// A row of a table gets as many cells as its head has, however many it contains.
function cells(lines) {
  let widest = 0;
  let rows = 0;
  for (const line of lines) {
    widest = Math.max(widest, line.split("|").length - 1);
    if (line.trim()) rows += 1;
  }
  return widest > 1 ? widest * rows : 0;
}

// The most unclosed emphasis marks in one paragraph; in a very long one all marks count.
function delimiters(text) {
  let most = 0;
  for (const paragraph of text.replace(FENCED, "").split(/\n\s*\n/)) {
    let open = 0;
    let all = 0;
    for (const { 0: run, index } of paragraph.matchAll(/\*+|_+|~+/g)) {
      const opens = BETWEEN.test(paragraph[index - 1] ?? " ");
      const closes = BETWEEN.test(paragraph[index + run.length] ?? " ");
      if (opens !== closes) open = Math.max(0, open + (opens ? 1 : -1));
      all += 1;
      most = Math.max(most, open, all > MOST_DELIMITERS ? all : 0);
    }
  }
  return most;
}
