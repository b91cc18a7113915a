// A Jupyter notebook as cells to show: formats 3 and 4. Its content is foreign: pictures only of known types, markup
// only by the sanitiser.

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
// eslint-disable-next-line no-control-regex
const COLOURS = /\x1b\[[0-9;]*[A-Za-z]/g;
const MOST_CELLS = 2000;

const textOf = (lines) =>
  Array.isArray(lines) ? lines.join("") : typeof lines === "string" ? lines : "";
const listOf = (list) =>
  Array.isArray(list) ? list.filter((item) => item && typeof item === "object") : [];

// {language, cells, more}: each cell is {kind, source, count, outputs}; `more` cells are left out.
//
// Throws if the text is no notebook.
export function readNotebook(text) {
  const book = JSON.parse(text);
  if (book === null || typeof book !== "object") throw new TypeError(typeof book);
  const cells = listOf(
    book.cells ?? listOf(book.worksheets).flatMap((sheet) => listOf(sheet.cells)),
  );
  const { language_info: info, kernelspec: kernel } = book.metadata ?? {};
  const language = [info?.name, kernel?.language].find((name) => typeof name === "string");
  return {
    language: (language ?? "python").toLowerCase(),
    cells: cells.slice(0, MOST_CELLS).map(cellOf),
    more: Math.max(0, cells.length - MOST_CELLS),
  };
}

function cellOf(cell) {
  const source = textOf(cell.source ?? cell.input);
  if (cell.cell_type === "heading")
    return { kind: "markdown", source: `${"#".repeat(cell.level ?? 1)} ${source}`, outputs: [] };
  const kind = ["markdown", "code"].includes(cell.cell_type) ? cell.cell_type : "raw";
  const count = cell.execution_count ?? cell.prompt_number;
  return {
    kind,
    source,
    count: Number.isInteger(count) ? count : null,
    outputs: kind === "code" ? joined(listOf(cell.outputs).map(outputOf).filter(Boolean)) : [],
  };
}

// Streams that follow each other are one.
function joined(outputs) {
  return outputs.reduce((all, output) => {
    const last = all.at(-1);
    if (output.kind === "stream" && last?.kind === "stream" && last.stream === output.stream)
      return [...all.slice(0, -1), { ...last, text: last.text + output.text }];
    return [...all, output];
  }, []);
}

// {kind, …}: stream {stream, text}, error {text}, picture {src, alt}, html {text}, markdown {text}, or text {text}.
function outputOf(output) {
  const { output_type: type } = output;
  if (type === "stream")
    return {
      kind: "stream",
      stream: output.name === "stderr" ? "stderr" : "stdout",
      text: plain(output.text),
    };
  if (type === "error" || type === "pyerr") {
    const trace = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
    return { kind: "error", text: plain(trace) || `${output.ename}: ${output.evalue}` };
  }
  return richOutput(output.data ?? old(output));
}

const plain = (text) => textOf(text).replace(COLOURS, "");

// Format 3 names the types by short names, beside the other members.
const old = ({ png, jpeg, svg, html, text }) => ({
  "image/png": png,
  "image/jpeg": jpeg,
  "image/svg+xml": svg,
  "text/html": html,
  "text/plain": text,
});

function richOutput(data) {
  const said = plain(data["text/plain"]);
  for (const type of PICTURES) {
    const coded = textOf(data[type]).replace(/\s+/g, "");
    if (coded && /^[A-Za-z0-9+/]+=*$/.test(coded))
      return { kind: "picture", src: `data:${type};base64,${coded}`, alt: said };
  }
  const drawing = textOf(data["image/svg+xml"]); // in an image element it runs nothing
  if (drawing)
    return { kind: "picture", src: `data:image/svg+xml,${encodeURIComponent(drawing)}`, alt: said };
  const markup = textOf(data["text/html"]);
  if (markup) return { kind: "html", text: markup };
  const markdown = textOf(data["text/markdown"] ?? data["text/latex"]);
  if (markdown) return { kind: "markdown", text: markdown };
  if (data["application/json"] !== undefined)
    return { kind: "text", text: JSON.stringify(data["application/json"], null, 2) };
  return said ? { kind: "text", text: said } : null;
}
