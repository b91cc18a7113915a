// Births of tools: what a turn added to the library, and the turn of the conversation that built
// the tool that another uses.

import { parseMutation } from "./consensus.js";
import { parseSpecification } from "./specification.js";
import { latest } from "./steps.js";

// The engine's message about a tool that it has added.
export const ADDED = /^(\S+) is in the library(?:, as version (\d+))?\.$/;

const known = new WeakMap();

// Those of a turn, its plan's steps and its agents, in order; read once for each list of steps.
export function birthsIn(steps) {
  if (!known.has(steps)) known.set(steps, readIn(steps));
  return known.get(steps);
}

function readIn(steps) {
  const inner = steps
    .flatMap((step) => [step, ...(step.parts ?? [])])
    .flatMap((part) => (part.steps ? birthsIn(part.steps) : []));
  const own = birth(steps);
  return own ? [own, ...inner] : inner;
}

// A tool that was in the library already, or that another turn added meanwhile, is no birth.
function birth(steps) {
  const register = latest(steps, "register");
  const specify = steps.findLast((s) => s.kind === "specify" && parseSpecification(s.artifact));
  if (register?.state !== "done" || !specify) return null;
  const specification = parseSpecification(specify.artifact);
  const { name } = specification;
  const [, added, version = "1"] = register.text.match(ADDED) ?? [];
  if (added !== name) return null;
  const tests = latest(steps, "verify")?.tests ?? [];
  const begun = steps.find((s) => s.kind === "specify").startedAt;
  const { killed, mutants, survivors } = parseMutation(latest(steps, "strengthen")?.artifact) ?? {};
  return {
    name,
    specification,
    version: Number(version),
    passed: tests.filter((t) => t.outcome === "passed").length,
    tests: tests.length,
    caught: mutants > 0 ? { killed, mutants, survivors } : null,
    seconds: (register.startedAt - begun) / 1000 + (register.seconds ?? 0),
  };
}

// For each turn the earlier one that built the tool that it used; null if it was built elsewhere or in the turn itself.
export function builders(turns) {
  const newest = new Map();
  return turns.map((turn) => {
    const names = birthsIn(turn.steps).map(({ name }) => name);
    const earlier = turn.state === "done" && !names.includes(turn.tool) && newest.get(turn.tool);
    names.forEach((name) => newest.set(name, turn));
    return earlier || null;
  });
}
