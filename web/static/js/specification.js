// A specification, parsed from the JSON that the specification step made
// (src/selfeng/core/spec.py); null if it is invalid.

import { parsed } from "./results.js";

export function parseSpecification(artifact) {
  const value = parsed(artifact);
  const spec = value?.specification ?? value;
  return typeof spec?.name === "string" && Array.isArray(spec.parameters) ? spec : null;
}

export function signatureText({ name, parameters, returns }) {
  const one = (p) => `${p.name}: ${p.annotation}${p.default == null ? "" : ` = ${p.default}`}`;
  const short = `${name}(${parameters.map(one).join(", ")}) -> ${returns}`;
  return short.length <= 60
    ? short
    : `${name}(\n${parameters.map((p) => `    ${one(p)},\n`).join("")}) -> ${returns}`;
}

export function prettyJson(text) {
  const value = parsed(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

// A model may stream code in a fence; the feed shows the code only.
export function unfenced(text) {
  const inside = text.match(/```[\w-]*\n([\s\S]*?)(?:\n?```|$)/);
  return inside ? inside[1] : text.replace(/^```[\w-]*$/, "");
}
