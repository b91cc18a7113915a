"""Whether repair ends where it should: `python -m benchmarks.repairs [--data DIR] [--tasks N]`; the
last line is JSON.

For each recorded sequence the synthesis engine runs from specification to registration, with a
model that says what was recorded: the task's own tests as the suite, then one recorded completion
after the other as implementation and repairs. `as_labelled` is the fraction of sequences that
register exactly the completion that is labelled right, or end with a clear failure where none is.
All 77 recorded ones do. The exit code is 1 if the goal is missed.
"""

import argparse
import ast
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from benchmarks.goals import report
from benchmarks.ready import current_sandbox
from benchmarks.verdicts import DATA, Row, read_rows
from selfeng.core.errors import SynthesisFailed
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import ReplyT
from selfeng.core.signature import parse_signature
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.turn import Budget, Request, Turn
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.checks import annotation_problem, suite_problem
from selfeng.synthesis.steps import python_code
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import ListedLibrary

GOAL = 1.0
"""The least share of sequences that end as labelled."""


class RecordedModel:
    """A `ModelClient` that says what was recorded for one task."""

    def __init__(self, spec: Specification, suite: str, completions: Sequence[str]) -> None:
        self._spec, self._suite, self._completions = spec, suite, list(completions)

    async def stream(self, prompt: Prompt, budget: Budget) -> AsyncIterator[str]:
        match prompt.name:
            case "tests":
                yield f"```python\n{self._suite}```"
            case "implementation" | "repair" if self._completions:
                yield f"```python\n{self._completions.pop(0)}\n```"
            case _:
                yield "Nothing more was recorded."

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        answer = SpecificationReply(outcome="tool", message="", specification=self._spec)
        assert isinstance(answer, reply)
        return answer

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        raise NotImplementedError


async def ends_as_labelled(sandbox: SecureSandbox, row: Row) -> bool:
    """Run one sequence."""
    spec, suite = _specification(row), _suite(row)
    library = ListedLibrary()
    policy = SynthesisPolicy(max_repairs=len(row["completions"]) - 1, mutation_score=0.0)
    engine = SynthesisEngine(
        RecordedModel(spec, suite, row["completions"]), sandbox, library, "recorded", policy
    )
    try:
        await engine.synthesize(Turn(Request(row["prompt"]), lambda _: None))
    except SynthesisFailed:
        return row["right_index"] is None
    right = row["right_index"]
    (tool,) = await library.tools()
    return right is not None and tool.code == python_code(
        f"```python\n{row['completions'][right]}\n```"
    )


def _specification(row: Row) -> Specification:
    signature = parse_signature(f"{row['prompt']}\n    pass\n", row["entry_point"])
    returns = (
        signature.returns if annotation_problem(signature.returns, "the value") is None else "Any"
    )
    return Specification(
        name=row["entry_point"],
        description=f"The task {row['task_id']}.",
        parameters=tuple(
            SpecParameter(
                name=p.name,
                annotation=p.annotation
                if annotation_problem(p.annotation, p.name) is None
                else "Any",
                default=p.default,
                description=p.description,
            )
            for p in signature.parameters
        ),
        returns=returns,
        returns_description="",
        errors="",
        user_examples=(),
        examples=(SpecExample(call=f"{row['entry_point']}()", result="None"),),
        example_requests=(),
    )


def _suite(row: Row) -> str:
    """One test for each assertion of the recorded check that calls the tool once, so that it is not
    compared with itself, and that the gate's policy lets through.
    """
    name, tests = row["entry_point"], ""
    head = f"import math\nfrom {name} import {name}\n\n\n"
    for number, body in enumerate(_checks(row["tests"], name), 1):
        test = (
            f"def test_{number}():\n"
            + "".join(f"    {line}\n" for line in body.splitlines())
            + "\n\n"
        )
        if body.count(f"{name}(") == 1 and suite_problem(head + test, name) is None:
            tests += test
    return head + tests


def _checks(source: str, name: str) -> Iterator[str]:
    """Each assertion of the function `check`, after what stands before it, with its parameter
    renamed to the tool.
    """
    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and function.name == "check":
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id == function.args.args[0].arg:
                    node.id = name
            before: list[ast.stmt] = []
            for statement in function.body:
                if isinstance(statement, ast.Assert):
                    statement.msg = None
                if isinstance(statement, ast.Assert | ast.For):
                    yield "\n".join(map(ast.unparse, [*before, statement]))
                else:
                    before.append(statement)


async def _measure(rows: Sequence[Row]) -> Row:
    sandbox = await current_sandbox()
    sandbox.start()
    started, right = time.perf_counter(), 0
    for row in rows:
        ended = await ends_as_labelled(sandbox, row)
        right += ended
        if not ended:
            sys.stdout.write(f"{row['id']:20} not as labelled: {', '.join(row['kinds'])}\n")
            sys.stdout.flush()
    await sandbox.aclose()
    seconds = (time.perf_counter() - started) / len(rows)
    return {
        "as_labelled": round(right / len(rows), 4),
        "seconds_per_sequence": round(seconds, 2),
        "sequences": len(rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder with the JSON lines of the sequences"
    )
    parser.add_argument("--tasks", type=int, help="only so many sequences")
    chosen = parser.parse_args()
    try:
        rows = list(read_rows(chosen.data, "repair_sequences"))[: chosen.tasks]
    except FileNotFoundError as error:
        parser.error(str(error))
    figures = asyncio.run(_measure(rows))
    return report(figures, {}, {"as_labelled": GOAL})


if __name__ == "__main__":
    sys.exit(main())
