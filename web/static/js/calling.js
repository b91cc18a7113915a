// Calling a tool by hand: the field of each parameter, and the arguments that a filled form means.

import { isFileName } from "./files.js";
import { parseExactly } from "./results.js";
import { t } from "./texts.js";

// {kind, options}: text, file, number, switch, choice, or json for all the rest; by the schema that
// the server reads from the signature.
export function fieldOf({ name }, schema = {}) {
  const options = (schema.enum ?? []).filter((option) => option !== null);
  if (options.length > 0) return { kind: "choice", options };
  const types = (schema.anyOf ?? [schema]).map(({ type }) => type).filter((one) => one !== "null");
  const only = types.length === 1 ? types[0] : types.every(isNumeric) ? "number" : "";
  if (only === "string") return { kind: isFileName(name) ? "file" : "text" };
  if (isNumeric(only)) return { kind: "number", step: only === "integer" ? "1" : "any" };
  return { kind: only === "boolean" ? "switch" : "json" };
}

// The name of a parameter as words: "Annual rate" for annual_rate.
export function labelOf(name) {
  const words = name.replaceAll("_", " ").trim();
  return words && words[0].toUpperCase() + words.slice(1);
}

// The type in words; that of a list or an object as it is in the signature.
export const typeWords = ({ kind, step }, annotation) =>
  kind === "json" ? annotation : t(`type-${step === "1" ? "whole" : kind}`);

const isNumeric = (type) => type === "integer" || type === "number";

// The initial value of a field: only a switch shows its default as its value.
export const initial = ({ default: text }, { kind }) => (kind === "switch" ? text === "True" : "");

// {given, problems}, by name; an untouched parameter with a default is left out.
export function argumentsOf(parameters, schema, entries) {
  const given = {};
  const problems = {};
  for (const parameter of parameters) {
    const { name, required } = parameter;
    const field = fieldOf(parameter, schema[name]);
    const entry = entries[name];
    const untouched = entry === undefined || entry === "";
    const said = field.kind === "text" || field.kind === "file" || field.kind === "switch";
    if (untouched && (!required || !said)) {
      if (required) problems[name] = t("run-needed");
      continue;
    }
    const value = entry ?? initial(parameter, field);
    try {
      given[name] = READ[field.kind](value, field);
    } catch {
      problems[name] = t("run-not-json");
    }
  }
  return { given, problems };
}

const same = (value) => value;

// The server reads a number that JavaScript would round from its text.
const number = (text) =>
  Number.isInteger(Number(text)) && !Number.isSafeInteger(Number(text)) ? text : Number(text);

// The fields' values for arguments, given as JSON text: the opposite of `argumentsOf`. A value that no
// field can hold is left out.
export function entriesOf(parameters, schema, given) {
  const values = parseExactly(given);
  const pairs = parameters
    .filter(({ name }) => Object.hasOwn(values, name))
    .map((parameter) => [
      parameter.name,
      entry(values[parameter.name], fieldOf(parameter, schema[parameter.name])),
    ]);
  return Object.fromEntries(pairs.filter(([, text]) => text !== undefined));
}

function entry(value, { kind, options }) {
  switch (kind) {
    case "switch":
      return Boolean(value);
    case "choice":
      return options.includes(value) ? String(options.indexOf(value)) : undefined;
    case "json":
      return JSON.stringify(value);
    default:
      return typeof value === "object" ? undefined : String(value);
  }
}

const READ = {
  text: same,
  file: same,
  switch: same,
  number,
  choice: (index, { options }) => options[Number(index)],
  json: (text) => JSON.parse(text),
};
