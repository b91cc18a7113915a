"""Chooses the rule of the comparison: `python -m benchmarks.fit_verdicts [--data DIR] [--tasks N]`;
the last line is JSON.

Every rule judges all recorded solutions as `benchmarks.verdicts` does, but for the repeats in other
orders; the sandbox runs each solution once. That rule is chosen whose mistakes cost least. The
first figures are those of leaving one task out: its solutions are judged by the rule that the other
tasks choose. `spread` holds the 5th and the 95th percentile of the chosen rule's rates when the
tasks are drawn again with repetition.
"""

import argparse
import asyncio
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.ready import current_sandbox
from benchmarks.verdicts import DATA, LABELS, Remembering, Row, Task, read_tasks
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.synthesis.consensus import (
    RULE,
    ComparisonRule,
    DrawnCode,
    Inputs,
    agree,
    difference,
    distinct,
)
from selfeng.synthesis.probe import Outcome, probe

COST = 3.0
"""Of refusing a right solution, beside letting in a near miss or a wrong one, all as rates."""
DRAWS = 2_000
RULES = [
    ComparisonRule(codes=codes, boundaries=boundaries, unusual=unusual)
    for codes, boundaries, unusual in itertools.product(
        (1, 2), (False, True), ("none", "most", "all")
    )
]
Rates = NDArray[np.float64]


class Judged:
    """Of each task how many solutions of each label there are, and how many each rule lets in:
    arrays by label.
    """

    def __init__(self, tasks: Sequence[Sequence[tuple[str, Sequence[bool]]]]) -> None:
        self._all = {
            label: np.array([sum(of == label for of, _ in task) for task in tasks])
            for label in LABELS
        }
        self._let_in = {
            label: np.array(
                [
                    np.sum([by for of, by in task if of == label] or [[False] * len(RULES)], axis=0)
                    for task in tasks
                ]
            )
            for label in LABELS
        }
        self.tasks = np.arange(len(tasks))

    def rates(self, tasks: NDArray[np.int64]) -> Mapping[str, Rates]:
        """Of each rule on some tasks."""
        return {
            label: self._let_in[label][tasks].sum(0) / max(1, self._all[label][tasks].sum())
            for label in LABELS
        }

    def choice(self, tasks: NDArray[np.int64]) -> int:
        rates = self.rates(tasks)
        return int((COST * (1 - rates["right"]) + rates["near_miss"] + rates["wrong"]).argmin())

    def left_out(self) -> Mapping[str, float]:
        chosen = [(task, self.choice(np.delete(self.tasks, task))) for task in self.tasks]
        return {
            label: sum(self._let_in[label][t, r] for t, r in chosen)
            / max(1, self._all[label].sum())
            for label in LABELS
        }

    def spread(self, rule: int) -> Mapping[str, list[float]]:
        chance = np.random.default_rng(0)
        drawn = [self.rates(chance.choice(self.tasks, len(self.tasks))) for _ in range(DRAWS)]
        return {
            label: np.percentile([rates[label][rule] for rates in drawn], [5, 95]).round(4).tolist()
            for label in LABELS
        }


async def judged(sandbox: Remembering, task: Task, solution: Row) -> tuple[str, list[bool]]:
    """The solution's label, and whether each of the rules lets it in."""
    label, code = solution["label"], solution["solution"]
    try:
        parse_signature(code, task.name)
    except SignatureError:
        return label, [False] * len(RULES)
    candidates = distinct(task.candidates(solution))
    agreed = await agree(sandbox, task.signature, candidates, task.suite)
    passed = [
        c
        for c, report in zip(candidates, agreed.reports, strict=True)
        if not (report.failed or report.problem)
    ]
    if candidates[0] not in passed:
        return label, [False] * len(RULES)
    inputs = Inputs(task.signature, task.suite, ())
    own, *others = [
        (await probe(sandbox, c.code, task.name, inputs.all), _draws(c, candidates[0]))
        for c in passed
    ]
    jury: list[tuple[list[Outcome], int]] = [
        (outcomes, draws) for outcomes, draws in (own, *others) if outcomes and draws
    ]
    return label, [not (own[0] and difference(own[0], jury, inputs, rule)) for rule in RULES]


def _draws(candidate: DrawnCode, judged: DrawnCode) -> int:
    """How often others drew it."""
    return candidate.draws - (candidate == judged)


async def _measure(tasks: Sequence[Task]) -> Row:
    sandbox = await current_sandbox()
    sandbox.start()
    await sandbox.settle()
    found = []
    for task in tasks:
        remembering = Remembering(sandbox)
        found.append([await judged(remembering, task, solution) for solution in task.solutions])
        sys.stdout.write(f"{task.id:16} {len(found[-1]):3} solutions\n")
        sys.stdout.flush()
    await sandbox.aclose()
    return report(Judged(found))


def report(found: Judged) -> Row:
    """For people, and what the last line says."""
    rates, chosen = found.rates(found.tasks), found.choice(found.tasks)
    for number, rule in enumerate(RULES):
        shown = "  ".join(f"{label} {rates[label][number]:.3f}" for label in LABELS)
        sys.stdout.write(
            f"{shown}  {rule!r}{'  ships' * (rule == RULE)}{'  chosen' * (number == chosen)}\n"
        )
    left_out = {name: round(found.left_out()[label], 4) for label, name in LABELS.items()}
    return {
        **left_out,
        "rule": RULES[chosen].model_dump(),
        "spread": found.spread(chosen),
        "tasks": len(found.tasks),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder with the JSON lines of the tasks"
    )
    parser.add_argument("--tasks", type=int, help="only so many tasks")
    chosen = parser.parse_args()
    try:
        tasks = read_tasks(chosen.data)[: chosen.tasks]
    except FileNotFoundError as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(asyncio.run(_measure(tasks))) + "\n")


if __name__ == "__main__":
    main()
