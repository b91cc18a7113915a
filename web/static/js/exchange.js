// Bundles of tools on their way in: the events of the server's answer, and what is known of each tool.

const EVENT = /^event: (\w+)\ndata: (.*)$/;

// The whole events of a text that is still coming, as [kind, data], and what is left of it.
export function readEvents(text) {
  const parts = text.split("\n\n");
  const rest = parts.pop();
  const events = parts
    .map((part) => EVENT.exec(part))
    .filter(Boolean)
    .map(([, kind, data]) => [kind, JSON.parse(data)]);
  return { events, rest };
}

// `findings` by the tool's name; `left` are the tools that a person has left out.
export const chosenTools = (tools, findings, left) =>
  tools.map(({ name }) => name).filter((name) => canBeAdded(findings[name]) && !left.has(name));

export const canBeAdded = (finding) => finding?.outcome === "passed";

// The packages that a person has to allow before their tools are checked.
export const packagesOf = (findings) => [
  ...new Set(
    Object.values(findings)
      .filter(({ outcome }) => outcome === "asks")
      .flatMap(({ values }) => values.needs.split(", ")),
  ),
];

// The texts of a tool that a person reads, without characters that hide.
export function wordsOf(tool, visible) {
  const { parameters, example_requests: requests, ...rest } = tool;
  const named = Object.entries(parameters).filter(([, words]) => words);
  return {
    ...rest,
    signature: visible(tool.signature),
    description: visible(tool.description),
    model: visible(tool.model),
    parameters: named.map(([name, words]) => [name, visible(words)]),
    requests: requests.map(visible),
  };
}
