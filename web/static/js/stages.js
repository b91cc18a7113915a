// The stages of a turn with their words, from the server's table (src/selfeng/core/stage.py), which
// is embedded in the page.

const table = globalThis.document?.getElementById("stages")?.textContent ?? "[]";

export const STAGES = Object.fromEntries(JSON.parse(table).map((stage) => [stage.name, stage]));
