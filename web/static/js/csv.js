// Tables of text: commas, semicolons or tabs between cells, quotes around cells that contain them.

const QUOTED = /^\s*"((?:[^"]|"")*)"\s*$/;

// The rows of a text, up to a limit; each is a list of texts.
export function parseTable(text, most = 100) {
  const head = text.slice(0, text.search(/\n|$/));
  const separator = [",", ";", "\t"].reduce((best, mark) =>
    head.split(mark).length > head.split(best).length ? mark : best,
  );
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    const inner = QUOTED.exec(cell);
    row.push(inner ? inner[1].replaceAll('""', '"') : cell.trim());
    cell = "";
  };
  for (const c of `${text.replace(/\r\n/g, "\n").trimEnd()}\n`) {
    if (c === '"') quoted = !quoted;
    if (!quoted && c === separator) endCell();
    else if (!quoted && c === "\n") {
      endCell();
      rows.push(row);
      row = [];
      if (rows.length === most) break;
    } else cell += c;
  }
  return rows;
}

export const isTable = ({ path }) => /\.[ct]sv$/i.test(path);
