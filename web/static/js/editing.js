// Editing a tool: what a person has typed, as the server takes it, and what its verdict says of it.

import { argumentsOf } from "./calling.js";
import { parsed } from "./results.js";

export const PAUSE = 350; // milliseconds after the last key

// Under which name the browser keeps what is typed.
export const draftOf = (name, proposed) => `${proposed ? "proposal" : "edit"} ${name}`;

// {rows, numbers}: the rows that are complete, as the server takes them, and where each stands in the table.
export function rowsOf({ parameters, input_schema: schema }, entries) {
  const rows = [];
  const numbers = [];
  entries.forEach(({ given, value }, number) => {
    if (value.trim() === "") return;
    const read = argumentsOf(parameters, schema.properties, given);
    if (Object.keys(read.problems).length > 0) return;
    rows.push({ arguments: read.given, value: valueOf(value) });
    numbers.push(number);
  });
  return { rows, numbers };
}

// A value as JSON; what is no JSON is a text.
export const valueOf = (text) => parsed(text, text);

// By the number of each row whether its test passed: the rows' tests come last.
export function passedRows(verdict, numbers) {
  const tests = (verdict.tests ?? []).slice(-numbers.length);
  if (verdict.problem || tests.length < numbers.length) return {};
  return Object.fromEntries(numbers.map((n, at) => [n, tests[at].outcome === "passed"]));
}
