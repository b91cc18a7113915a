// Calling a tool by hand: the field of each parameter, and the arguments that a filled form means.

const IS_FILE = /(^|_)(file|path|filename)s?($|_)/;

// {kind, options}: text, file, number, switch, choice, or json for all the rest; by the schema that the server reads from the signature.
export function fieldOf({ name }, schema = {}) {
  const options = (schema.enum ?? []).filter((option) => option !== null);
  if (options.length > 0) return { kind: "choice", options };
  const types = (schema.anyOf ?? [schema]).map(({ type }) => type).filter((t) => t !== "null");
  const only = types.length === 1 ? types[0] : types.every(isNumeric) ? "number" : "";
  if (only === "string") return { kind: IS_FILE.test(name) ? "file" : "text" };
  if (isNumeric(only)) return { kind: "number", step: only === "integer" ? "1" : "any" };
  return { kind: only === "boolean" ? "switch" : "json" };
}

const isNumeric = (type) => type === "integer" || type === "number";

// What a field holds at first: only a switch shows its default as its value.
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
      if (required) problems[name] = "Needed";
      continue;
    }
    const value = entry ?? initial(parameter, field);
    try {
      given[name] = READ[field.kind](value, field);
    } catch {
      problems[name] = 'Not valid JSON; texts have quotes, such as ["a", "b"]';
    }
  }
  return { given, problems };
}

const same = (value) => value;

// The server reads a number that JavaScript would round from its text.
const number = (text) =>
  Number.isInteger(Number(text)) && !Number.isSafeInteger(Number(text)) ? text : Number(text);

const READ = {
  text: same,
  file: same,
  switch: same,
  number,
  choice: (index, { options }) => options[Number(index)],
  json: (text) => JSON.parse(text),
};
