// A run of a test suite: what its tests came to.

import { list } from "./format.js";
import { t } from "./texts.js";

export function count(tests) {
  const of = (outcome) => tests.filter((t) => t.outcome === outcome).length;
  const passed = of("passed");
  const skipped = of("skipped");
  return { total: tests.length, passed, skipped, failed: tests.length - passed - skipped };
}

// How many tests the verification will have: as many as the run of the same suite without an implementation.
export function expectedTests(steps, verification) {
  const stub = steps.slice(0, steps.indexOf(verification)).findLast((step) => step.kind === "stub");
  return Math.max(stub?.tests.length ?? 0, verification.tests.length);
}

export function tallyWords(tests, expected = tests.length) {
  const { passed, failed } = count(tests);
  return t(failed > 0 ? "tests-passed-failed" : "tests-passed", {
    passed,
    failed,
    total: expected,
  });
}

export function stubWords(tests) {
  const { total, passed } = count(tests);
  return passed > 0 ? t("stub-passed", { passed, total }) : t("stub-failed", { total });
}

// The results of repeated runs of a suite so far, each in another order;
// "" if there are none.
export function repeatWords(repeats) {
  const order = ({ order }) => t(`order-${order}`);
  const same = repeats.filter((r) => r.same).map(order);
  return [
    ...(same.length > 0 ? [t("repeats-same", { orders: list(same) })] : []),
    ...repeats
      .filter((r) => !r.same)
      .map((r) => t("repeats-other", { order: order(r), detail: r.detail })),
  ].join(" ");
}
