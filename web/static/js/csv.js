// Tables as text: read from files, and written for a spreadsheet. Loaded on demand, with its library.

import Papa from "papaparse";

const DELIMITERS = [",", ";", "\t", "|"];

// The rows of a text, up to a limit; each is a list of texts without the spaces around them.
export const parseTable = (text, most = 0) =>
  Papa.parse(text.trimEnd(), {
    preview: most,
    delimitersToGuess: DELIMITERS,
    transform: (cell) => cell.trim(),
  }).data;

// {columns, rows} of such a text: the first row names the columns, and rows that are short are filled up.
export function tableOfText(text) {
  const [head = [], ...rows] = parseTable(text);
  const width = rows.reduce((most, row) => Math.max(most, row.length), head.length);
  const columns = Array.from({ length: width }, (_, n) => head[n] || String(n + 1));
  return { columns, rows: rows.map((row) => columns.map((_, n) => row[n] ?? "")) };
}

// A spreadsheet runs nothing of it: a text that it would run, as FORMULA of results.js matches,
// begins with an apostrophe.
// It comes from the caller: what this file imported would be one more file for the page to load at first.
export const csvOf = ({ columns, rows }, formula) =>
  Papa.unparse(
    { fields: columns, data: rows.map((row) => row.map(plain)) },
    { escapeFormulae: formula },
  );

const plain = (cell) => (cell !== null && typeof cell === "object" ? JSON.stringify(cell) : cell);
