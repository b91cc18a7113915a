"""What the gate accepts: `python -m benchmarks.verdicts [--data DIR] [--tasks N]`; the last line is
JSON.

Recorded completions stand in for the model. For each recorded solution of a task the gate is given
what a synthesis gives it: the specification's signature, GPT-4's recorded asserts as the suite, the
examples of the task's text as the person's own, and as candidates the solution and what the
recorded models (`PANEL`) wrote, without the solution's own draw. A solution is accepted if the gate
would register it: it passes the suite that is left, is not refuted, and passes again in every
order.

What the sandbox says of a candidate does not depend on the others, so it is asked once per task and
candidate; the gate's own cost, `gate_seconds`, is the median of the first gate of each task, for
which nothing was remembered.
"""

import argparse
import ast
import asyncio
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ready import current_sandbox
from selfeng.core.files import File
from selfeng.core.protocols import NO_MODULES
from selfeng.core.signature import Signature, SignatureError, parse_signature
from selfeng.core.verdict import Execution, SandboxStatus, TestResult, Verdict, Version
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.consensus import SECONDS, Consensus, agree, distinct
from selfeng.synthesis.examples import PREFIX
from selfeng.synthesis.gate import Gate

DATA = Path(__file__).parents[2] / "shared" / "data" / "verdicts"
PANEL = ("gpt-4a", "gpt-4b", "davinci-003", "gpt-3.5", "gpt-4-reflexion")
"""Origins whose recorded solutions are drawn as candidates: one answer each to the bare task."""
LABELS = {"right": "right_accepted", "near_miss": "near_miss_accepted", "wrong": "wrong_accepted"}

Row = dict[str, Any]


class Remembering:
    """A sandbox that runs the same thing once only; the recorded solutions import no tools."""

    def __init__(self, sandbox: SecureSandbox) -> None:
        self._sandbox = sandbox
        self._known: dict[object, Any] = {}

    async def status(self) -> SandboxStatus:
        return await self._sandbox.status()

    async def verify(
        self,
        name: str,
        code: str,
        tests: str,
        on_test: Callable[[TestResult], None],
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> Verdict:
        return await self._once(
            (code, tests), lambda: self._sandbox.verify(name, code, tests, on_test)
        )

    async def verify_versions(
        self,
        name: str,
        versions: Sequence[Version],
        tests: str,
        timeout: float | None = None,
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> tuple[Verdict, ...]:
        new = [v for v in versions if (v, tests) not in self._known]
        for version, verdict in zip(
            new,
            await self._sandbox.verify_versions(name, new, tests, timeout) if new else (),
            strict=True,
        ):
            self._known[version, tests] = verdict
        return tuple(self._known[v, tests] for v in versions)

    async def execute(
        self,
        name: str,
        code: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> Execution:
        return await self._once(
            (code, repr(arguments)), lambda: self._sandbox.execute(name, code, arguments, files)
        )

    async def _once(self, key: object, run: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = await run()
        return self._known[key]


class Task:
    """One task: its suite, its examples and its recorded solutions."""

    def __init__(self, suite: Row, problem: Row, solutions: Sequence[Row]) -> None:
        self.id: str = suite["id"]
        self.name: str = suite["entry_point"]
        self.solutions = solutions
        self.signature = parse_signature(problem["canonical_solution"], self.name)
        examples = list(_asserts(problem.get("example_tests") or ""))
        tests = [*_numbered(PREFIX, examples), *_numbered("test_", suite["asserts"])]
        self.suite = f"from math import *\nfrom {self.name} import {self.name}\n\n\n" + "\n\n".join(
            tests
        )

    def candidates(self, solution: Row) -> list[str]:
        """The solution, and the panel's draws without the one that is this solution."""
        drawn = [
            row["solution"] for row in self.solutions for origin in row["origin"] if origin in PANEL
        ]
        if any(origin in PANEL for origin in solution["origin"]):
            drawn.remove(solution["solution"])
        return [solution["solution"], *drawn]


def read_tasks(data: Path) -> list[Task]:
    """Raises: FileNotFoundError."""
    problems = {row["id"]: row for row in read_rows(data, "humaneval")}
    solutions: dict[str, list[Row]] = {}
    for row in read_rows(data, "llm_completions_humaneval"):
        solutions.setdefault(row["task_id"], []).append(row)
    return [
        Task(suite, problems[suite["id"]], solutions[suite["id"]])
        for suite in read_rows(data, "gpt4_tests_humaneval")
        if suite["id"] in solutions
    ]


def read_rows(data: Path, name: str) -> Iterator[Row]:
    """The rows of all files of that name. Raises: FileNotFoundError."""
    found = sorted(
        file for file in data.glob("*.jsonl") if re.fullmatch(rf"{name}([^a-z].*)?", file.stem)
    )
    if not found:
        raise FileNotFoundError(
            f"{data} has no {name}.*.jsonl; DATA is a folder like shared/data/verdicts"
        )
    for file in found:
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _asserts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert):
            yield ast.unparse(node)


def _numbered(prefix: str, asserts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(asserts, 1):
        body = "\n    ".join(text.strip().splitlines())
        try:
            ast.parse(body)
        except SyntaxError:
            # as it would be when the model had written it in a test of its own
            body = "raise SyntaxError"
        yield f"def {prefix}{number}():\n    {body}\n"


STAGES = (
    "all tests must pass",
    "most candidates agree with the tests",
    "and with its values: the gate",
)


async def accepted(
    sandbox: Remembering, task: Task, solution: Row
) -> tuple[tuple[bool, bool, bool], Consensus | None]:
    """Whether the solution would be accepted, stage by stage, the last of them being the gate; and
    what it made of the suite.
    """
    code = solution["solution"]
    if _signature_of(code, task.name) is None:
        return (False, False, False), None
    agreed = await agree(sandbox, task.signature, distinct(task.candidates(solution)), task.suite)
    (plain,) = await sandbox.verify_versions(
        task.name, [Version(code=code, whole=True, apart=False)], task.suite, SECONDS
    )
    report = agreed.reports[0]
    voted = not (report.failed or report.problem)
    right = (
        report.right
        and (await Gate(sandbox).green(task.name, code, agreed.tests, lambda _: None)).passed
    )
    return (plain.passed, voted, right), agreed


def _signature_of(code: str, name: str) -> Signature | None:
    try:
        return parse_signature(code, name)
    except SignatureError:
        return None


async def _measure(tasks: Sequence[Task]) -> Row:
    sandbox = await current_sandbox()
    sandbox.start()
    await sandbox.settle()
    outcomes: Counter[tuple[int, str, bool]] = Counter()
    gates: list[float] = []
    seconds: list[float] = []
    repaired = 0
    for task in tasks:
        remembering, began, dropped = Remembering(sandbox), time.perf_counter(), False
        for number, solution in enumerate(task.solutions):
            started = time.perf_counter()
            passed, agreed = await accepted(remembering, task, solution)
            outcomes.update(
                (stage, solution["label"], is_passed) for stage, is_passed in enumerate(passed)
            )
            dropped = dropped or bool(agreed and agreed.dropped)
            if number == 0:
                gates.append(time.perf_counter() - started)
        seconds.append(time.perf_counter() - began)
        repaired += dropped
        shown = ", ".join(f"{label} {_rate(outcomes, 2, label):.3f}" for label in LABELS)
        sys.stdout.write(
            f"{task.id:16} {len(task.solutions):3} solutions {seconds[-1]:6.1f} s   accepted so "
            f"far: {shown}\n"
        )
        sys.stdout.flush()
    await sandbox.aclose()
    for stage, what in enumerate(STAGES):
        sys.stdout.write(
            f"{what:40} "
            f"{'  '.join(f'{label} {_rate(outcomes, stage, label):.3f}' for label in LABELS)}\n"
        )
    return {
        **{name: round(_rate(outcomes, 2, label), 4) for label, name in LABELS.items()},
        "suites_repaired": repaired,
        "seconds_per_task": round(statistics.median(seconds), 2),
        "gate_seconds": round(statistics.median(gates), 2),
        "tasks": len(tasks),
    }


def _rate(outcomes: Counter[tuple[int, str, bool]], stage: int, label: str) -> float:
    return outcomes[stage, label, True] / max(
        1, outcomes[stage, label, True] + outcomes[stage, label, False]
    )


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
