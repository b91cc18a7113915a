// The progress of a synthesis: its five steps with the state of each, as the conversation shows them.

export const SYNTHESIS = ["specify", "test", "implement", "verify", "register"];

// Stages that are part of one of the five.
const PART_OF = { compare: "verify", strengthen: "verify" };

// Prompts that only add tests to a finished suite.
const ADDED = new Set(["more_tests", "deciding_test"]);

// A step that came before a newer attempt at an earlier one counts as waiting again. Null: no synthesis in this turn, or one that led to a plan, or one
// whose specification needed no tool: then the turn has an answer while steps still wait.
export function progress(steps, answered = false) {
  if (
    !steps.some((step) => SYNTHESIS.includes(step.kind)) ||
    steps.some((step) => step.kind === "plan")
  )
    return null;
  let reached = -1;
  const parts = SYNTHESIS.map((name) => {
    const index = steps.findLastIndex(
      (step) => (PART_OF[step.kind] ?? step.kind) === name && !ADDED.has(step.prompt),
    );
    if (index <= reached) return { name, state: "waiting", attempt: 1 };
    reached = index;
    return { name, state: steps[index].state, attempt: steps[index].attempt };
  });
  return answered && parts.some((part) => part.state === "waiting") ? null : parts;
}

export function count(tests) {
  const of = (outcome) => tests.filter((t) => t.outcome === outcome).length;
  const passed = of("passed");
  const skipped = of("skipped");
  return { total: tests.length, passed, skipped, failed: tests.length - passed - skipped };
}

// How many tests the verification will have: as many as the stub run of the same suite.
export function expectedTests(steps, verification) {
  const stub = steps.slice(0, steps.indexOf(verification)).findLast((step) => step.kind === "stub");
  return Math.max(stub?.tests.length ?? 0, verification.tests.length);
}

// The results of repeated runs of a suite so far, each in another order and with another hash seed; "" if there are none.
export function repeatWords(repeats) {
  const orders = repeats.filter((r) => r.same).map((r) => r.order);
  const same =
    orders.length > 0
      ? [`Again in ${orders.join(" and in ")} order, with another hash seed: same result.`]
      : [];
  return [
    ...same,
    ...repeats
      .filter((r) => !r.same)
      .map((r) => `Again in ${r.order} order, with another hash seed: ${r.detail}.`),
  ].join(" ");
}
