"""The wrong results of a tool that two witnesses notice, the second part of `make bench-wrong`:
`python -m benchmarks.witnesses [--data DIR]`; the last line is JSON.

Recorded completions stand in for the model. Every solution of a task that passes its tests, right
or a near miss, is the tool once; the others that pass are its candidates, from which `pick` takes
two. All are called with the inputs of the hidden tests, whose values say which results are wrong;
a call that raises gives no result. A rule decides which of the calls are doubted: `wrong_unflagged`
is the share of wrong results that are not, `right_doubted` that of right ones that are.

Each half of HumanEval's tasks, by a hash of their names, is judged by the rule that the other half
chooses. `strong` leaves out what the weakest model wrote; MBPP's four solutions of a task come from
one model.

HumanEval, all models: wrong unflagged, right doubted    the most different  any two
either returns something else                            0.050, 0.030        0.068, 0.023
either returns something else or raises                  0.050, 0.059        0.067, 0.039
both return something else                               0.390, 0.004        0.408, 0.003

So one witness that returns another value is enough, and one that raises does not count.
"""

import argparse
import ast
import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.goals import report
from benchmarks.ready import current_sandbox
from benchmarks.verdicts import DATA, Row, read_rows
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.consensus import distinct, kept_witnesses
from selfeng.synthesis.probe import CallOutcome, probe, same

GOALS = {"wrong_unflagged": 0.15, "right_doubted": 0.035}
WEAK = "codegen16B"
SOURCES = {"humaneval": "humaneval", "mbpp": "mbpp_sanitized"}

_EQUAL: dict[tuple[CallOutcome, CallOutcome], bool] = {}

Rule = Callable[[CallOutcome, Sequence[CallOutcome]], bool]


def _same(one: CallOutcome, other: CallOutcome) -> bool:
    """As `same`, which reads both values, once for each pair."""
    if (one, other) not in _EQUAL:
        _EQUAL[one, other] = same(one, other)
    return _EQUAL[one, other]


def _differing(own: CallOutcome, witnesses: Sequence[CallOutcome]) -> list[CallOutcome]:
    return [w for w in witnesses if w.kind == "returned" and not _same(own, w)]


RULES: dict[str, Rule] = {
    "either returns something else": lambda own, ws: bool(_differing(own, ws)),
    "either returns something else or raises": lambda own, ws: any(not _same(own, w) for w in ws),
    "both return something else": lambda own, ws: len(_differing(own, ws)) == len(ws),
    "both return the same other value": lambda own, ws: (
        len(_differing(own, ws)) == len(ws) and all(_same(ws[0], w) for w in ws)
    ),
}
PICKS: dict[str, Callable[[str, Sequence[str]], list[Sequence[str]]]] = {
    "the most different": lambda code, others: [kept_witnesses(code, distinct(others))],
    "any two": lambda code, others: list(combinations(others, 2)),
}


class Ran(NamedTuple):
    """A solution and its outcomes on the inputs of a task's hidden tests."""

    code: str
    origin: tuple[str, ...]
    outcomes: list[CallOutcome]


class Task(NamedTuple):
    half: int
    expected: list[CallOutcome]
    solutions: list[Ran]


class Tally(NamedTuple):
    """Sums of calls, each pair of witnesses of a tool in equal parts."""

    wrong: float = 0.0
    unflagged: float = 0.0
    right: float = 0.0
    doubted: float = 0.0

    def __add__(self, other: Any) -> "Tally":
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def rates(self) -> dict[str, float]:
        return {
            "wrong_unflagged": round(self.unflagged / max(1.0, self.wrong), 4),
            "right_doubted": round(self.doubted / max(1.0, self.right), 4),
        }

    @property
    def cost(self) -> float:
        return sum(rate / GOALS[name] for name, rate in self.rates.items())


def cases(tests: str) -> Iterator[tuple[list[Any], Any]]:
    """The arguments and values of a module's CASES; those that no literal says are left out."""
    for node in ast.parse(tests).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CASES":
            assert isinstance(node.value, ast.List)
            for case in node.value.elts:
                try:
                    yield ast.literal_eval(case)
                except ValueError:
                    continue


async def read_task(
    sandbox: SecureSandbox, problem: Row, solutions: Sequence[Row], weak: bool
) -> Task:
    name, hidden = problem["entry_point"], list(cases(problem["hidden_tests"] or ""))
    ran, seen = [], set[str]()
    for row in solutions:
        code = row["solution"]
        if row["label"] == "wrong" or code in seen or (set(row["origin"]) == {WEAK} and not weak):
            continue
        seen.add(code)
        try:
            names = [p.name for p in parse_signature(code, name).parameters]
        except SignatureError:
            continue
        inputs = [dict(zip(names, arguments, strict=False)) for arguments, _ in hidden]
        if outcomes := await probe(sandbox, SandboxJob(name, code), inputs):
            ran.append(Ran(code, tuple(row["origin"]), outcomes))
    expected = [CallOutcome(kind="returned", text=repr(value)) for _, value in hidden]
    return Task(sha256(problem["id"].encode()).digest()[0] % 2, expected, ran)


def tally(tasks: Sequence[Task], rule: Rule, pick: str) -> Tally:
    total = Tally()
    for task in tasks:
        outcomes = {one.code: one.outcomes for one in task.solutions}
        for own in task.solutions:
            pairs = PICKS[pick](own.code, [code for code in outcomes if code != own.code])
            pairs = [pair for pair in pairs if len(pair) == 2]
            for pair in pairs:
                total += _calls(task, own, [outcomes[code] for code in pair], rule, 1 / len(pairs))
    return total


def _calls(
    task: Task, own: Ran, witnesses: Sequence[Sequence[CallOutcome]], rule: Rule, weight: float
) -> Tally:
    total = Tally()
    for number, (outcome, expected) in enumerate(zip(own.outcomes, task.expected, strict=True)):
        if outcome.kind != "returned":
            continue
        doubted = rule(outcome, [one[number] for one in witnesses])
        if _same(outcome, expected):
            total += Tally(right=weight, doubted=weight * doubted)
        else:
            total += Tally(wrong=weight, unflagged=weight * (not doubted))
    return total


def crossed(tasks: Sequence[Task]) -> Row:
    """The rates of each half by the rule that the other half chooses."""
    total, chosen = Tally(), []
    for half in (0, 1):
        own, other = ([t for t in tasks if (t.half == half) is mine] for mine in (True, False))
        best = min(
            ((rule, pick) for rule in RULES for pick in PICKS),
            key=lambda choice: tally(other, RULES[choice[0]], choice[1]).cost,
        )
        chosen.append(best)
        total += tally(own, RULES[best[0]], best[1])
    return {**total.rates, "chosen": chosen}


async def measure(sandbox: SecureSandbox, data: Path) -> Row:
    figures: Row = {}
    for source, weak in (("humaneval", True), ("humaneval", False), ("mbpp", True)):
        solutions: dict[str, list[Row]] = {}
        for row in read_rows(data, f"llm_completions_{source}"):
            solutions.setdefault(row["task_id"], []).append(row)
        tasks = [
            await read_task(sandbox, problem, solutions[problem["id"]], weak)
            for problem in read_rows(data, SOURCES[source])
            if problem["id"] in solutions
        ]
        name = source if weak else "strong"
        for rule, pick in ((rule, pick) for rule in RULES for pick in PICKS):
            rates = tally(tasks, RULES[rule], pick).rates
            sys.stdout.write(f"{name:10} {rule}, {pick}: {rates}\n")
            sys.stdout.flush()
        if source == "humaneval" and weak:
            figures |= crossed(tasks)
        else:
            own = tally(tasks, next(iter(RULES.values())), next(iter(PICKS)))
            figures |= {f"{name}_{key}": rate for key, rate in own.rates.items()}
    return figures


async def _main(data: Path) -> int:
    sandbox = await current_sandbox()
    try:
        figures = await measure(sandbox, data)
    finally:
        await sandbox.aclose()
    return report(figures, GOALS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the JSON lines")
    return asyncio.run(_main(parser.parse_args().data))


if __name__ == "__main__":
    sys.exit(main())
