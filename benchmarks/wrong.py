"""The outcome of a wrong answer: `python -m benchmarks.wrong [--faults N]`; the last line is JSON,
and the exit code is 1 if a goal is missed. The figures of `benchmarks/witnesses.py` are among it.

A fault is a wrong solution of humanevalfix that answers earlier requests, each by an input of the
task's hidden tests, in two conversations. Then a person says that one of the answers is wrong, and
what is right. The model is an ideal one: it says what a model could know, the right solution and
tests of the wrong input and of others. Engine, library, gate, sandbox and journal are the real
ones. `corrected`: whether the turn's own call returns the right value; `learnt_complaints`: how
many complaints find a tool afterwards; `recall` and `recall_precision` compare the earlier answers
that are said to change with those that were wrong.
"""

import argparse
import ast
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from pydantic import BaseModel

from benchmarks import witnesses
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from benchmarks.verdicts import DATA, Row, read_rows
from benchmarks.witnesses import cases, measure
from selfeng.bootstrap import build_engine
from selfeng.core.events import ExecutionFinished, Record
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import ReplyT
from selfeng.core.signature import Signature, SignatureError, parse_signature
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import ToolDraft
from selfeng.core.turn import Budget
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.engine import Engine
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis.probe import CallOutcome, probe, same, shown_call
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy

GOALS = {"corrected": 0.9, "recall": 0.95, "recall_precision": 0.95}
FAULTS, ANSWERS, SHOWN_TESTS = 50, 6, 12
_PLAIN = (str, int, float, bool, type(None))


class Fault(NamedTuple):
    """A wrong tool, what it should be, and calls with the right values."""

    name: str
    signature: Signature
    wrong: str
    right: str
    calls: list[tuple[dict[str, Any], Any]]
    failing: int
    """Which of the calls the person complains about."""
    passing: range
    """Those that the wrong tool gets right, whose tests it has."""

    def tests(self, which: Sequence[int]) -> str:
        body = "".join(
            f"\n\ndef test_{n}():\n"
            f"    assert {shown_call(self.name, self.calls[n][0])} == {self.calls[n][1]!r}\n"
            for n in which
        )
        return f"from {self.name} import {self.name}\n{body}"


class IdealModel:
    """A `ModelClient` that says of each prompt what an ideal model could."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self.chosen = FunctionCall(name="no_tool_fits", arguments={})

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        budget.charge(1, 1, None)
        return self.chosen

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        budget.charge(1, 1, None)
        fault, wanted = self._fault, self._fault.calls[self._fault.failing]
        call = shown_call(fault.name, wanted[0])
        said: BaseModel = SpecificationReply(
            outcome="fix",
            message="",
            specification=Specification(
                name=fault.name,
                description=f"Compute {fault.name.replace('_', ' ')}.",
                parameters=tuple(
                    SpecParameter(
                        name=p.name, annotation=p.annotation, default=p.default, description=p.name
                    )
                    for p in fault.signature.parameters
                ),
                returns=fault.signature.returns,
                returns_description="the value",
                errors="none",
                user_examples=(SpecExample(call=call, result=repr(wanted[1])),),
                examples=tuple(
                    SpecExample(call=shown_call(fault.name, arguments), result=repr(value))
                    for arguments, value in fault.calls[1:4]
                ),
                example_requests=tuple(f"compute {fault.name} {n}" for n in range(5)),
            ),
            call=call,
        )
        assert isinstance(said, reply), (prompt.name, reply)
        return said

    async def stream(self, prompt: Prompt, budget: Budget) -> AsyncIterator[str]:
        budget.charge(1, 1, None)
        fault, shown = self._fault, range(min(SHOWN_TESTS, len(self._fault.calls)))
        match prompt.name:
            case "tests" | "more_tests":
                yield f"```python\n{fault.tests([*{fault.failing, *shown}])}\n```"
            case "implementation" | "repair":
                yield f"```python\n{fault.right}\n```"
            case _:
                yield "Done."


def _is_plain(value: Any) -> bool:
    match value:
        case list():
            return all(map(_is_plain, value))
        case dict():
            return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
        case _:
            return isinstance(value, _PLAIN) and repr(value) != "nan"


async def faults(engine: Engine, data: Path, most: int) -> list[Fault]:
    """Wrong solutions whose results on hidden inputs are plain JSON, some of them right and some
    wrong.
    """
    problems = {row["id"]: row for row in read_rows(data, "humaneval")}
    found: list[Fault] = []
    for row in read_rows(data, "humanevalfix"):
        problem = problems.get(row["id"])
        wanted = problem is not None and len(found) < most
        if wanted and (fault := await _fault(engine, problem, row)):
            found.append(fault)
    return found


def _snake_case(name: str) -> str:
    """A name as tools may have it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


async def _fault(engine: Engine, problem: Row, row: Row) -> Fault | None:
    original = problem["entry_point"]
    name = _snake_case(original)
    right, wrong = (
        re.sub(rf"\b{original}\b", name, row[f"{which}_solution"])
        for which in ("canonical", "buggy")
    )
    try:
        signature, own = parse_signature(wrong, name), parse_signature(right, name)
    except SignatureError:
        return None
    names = [p.name for p in signature.parameters]
    calls = [
        (dict(zip(names, arguments, strict=False)), value)
        for arguments, value in cases(problem["hidden_tests"] or "")
        if _is_plain(arguments) and _is_plain(value) and len(repr(arguments)) < 300
    ]
    outcomes = await probe(engine.sandbox, SandboxJob(name, wrong), [a for a, _ in calls])
    if not outcomes or own != signature:
        return None
    are_right = [
        same(outcome, CallOutcome(kind="returned", text=repr(value)))
        for outcome, (_, value) in zip(outcomes, calls, strict=True)
    ]
    usable = [n for n, outcome in enumerate(outcomes) if outcome.kind == "returned"]
    bad, good = ([n for n in usable if are_right[n] is right_one] for right_one in (False, True))
    if not bad or not good:
        return None
    kept = [bad[0], *good[: ANSWERS // 2], *bad[1 : 1 + ANSWERS // 2]]
    passing = range(1, 1 + len(good[: ANSWERS // 2]))
    others = [call for n, call in enumerate(calls) if n not in kept]
    return Fault(name, signature, wrong, right, [*(calls[n] for n in kept), *others], 0, passing)


class Seen(NamedTuple):
    """The outcome of one fault."""

    corrected: bool
    learnt: int
    wrong: int
    """Earlier answers that were wrong."""
    told: int
    """Of these, those that are said to change."""
    changed: int
    """All that are said to change."""
    seconds: float


def _model_parts(engine: Engine, fault: Fault) -> IdealModel:
    """Have the engine's turns run on an ideal model."""
    model = IdealModel(fault)
    orchestrator = Orchestrator(
        engine.library,
        Executor(model, engine.sandbox, engine.library),
        SynthesisEngine(model, engine.sandbox, engine.library, "ideal", SynthesisPolicy()),
        ResponseSynthesizer(model),
    )
    engine.model_parts.current = replace(engine.model_parts.current, orchestrator=orchestrator)
    return model


async def _turn(engine: Engine, conversation: str | None, request: str) -> list[Record]:
    records = [r async for r in engine.turn("me", engine.ask("me", conversation, request))]
    await engine.settle()
    return records


def _returned(records: Sequence[Record]) -> list[Any]:
    return [
        ast.literal_eval(event.execution.text)
        if event.execution.type_name != "str"
        else event.execution.text
        for record in records
        if isinstance(event := record.event, ExecutionFinished)
        and isinstance(event.execution, Returned)
    ]


async def seen(engine: Engine, fault: Fault) -> Seen:
    model, name = _model_parts(engine, fault), fault.name
    draft = ToolDraft(
        name=name,
        description=f"Compute {name.replace('_', ' ')}.",
        signature=fault.signature,
        code=fault.wrong,
        tests=fault.tests(fault.passing),
        example_requests=(f"compute {name.replace('_', ' ')}",),
    )
    await engine.library.add(draft)
    wrong_turns, conversation, last = set(), None, 1 + ANSWERS
    for number, (arguments, value) in [*enumerate(fault.calls[:last])][::-1]:
        model.chosen = FunctionCall(name=name, arguments=arguments)
        if number == last // 2:
            conversation = None
        records = await _turn(engine, conversation, f"compute {name} of {arguments!r}"[:400])
        conversation = records[0].conversation_id
        if not _equal(_returned(records), value):
            wrong_turns.add(records[0].turn_id)
    complaint = f"That is not right, it must be {fault.calls[0][1]!r}."
    model.chosen = FunctionCall(
        name="earlier_result_is_wrong",
        arguments={"result": "", "complaint": complaint, "standalone_request": complaint},
    )
    began = time.perf_counter()
    records = await _turn(engine, conversation, complaint)
    seconds = time.perf_counter() - began
    report = await engine.earlier_answers.recompute("me", name)
    changed = {answer.turn_id for answer in report.changed}
    used = await engine.library.used_requests([name])
    learnt = [request for request in used[name] if "not right" in request]
    corrected = _equal(_returned(records), fault.calls[0][1])
    if not corrected:
        sys.stdout.write(f"{name}: {records[-1].event!r}\n"[:600])
    return Seen(
        corrected, len(learnt), len(wrong_turns), len(wrong_turns & changed), len(changed), seconds
    )


def _equal(returned: Sequence[Any], value: Any) -> bool:
    outcomes = (CallOutcome(kind="returned", text=repr(v)) for v in (*returned[-1:], value))
    return bool(returned) and same(*outcomes)


async def witness_ms(engine: Engine) -> float:
    """The milliseconds that a call of a witness takes in a container that its owner has used."""
    job, times = SandboxJob("twice", "def twice(n):\n    return 2 * n\n"), []
    for _ in range(40):
        began = time.perf_counter()
        await engine.sandbox.execute(job, {"n": 2})
        times.append(1000 * (time.perf_counter() - began))
    return round(median(times), 1)


async def run(data: Path, most: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        settings = offline_settings(Path(folder)).model_copy(update={"lessons_learn": False})
        engine = await build_engine(settings)
        try:
            await engine.setup.get_ready()
            results = []
            for fault in await faults(engine, data, most):
                results.append(await seen(engine, fault))
                sys.stdout.write(f"{fault.name}: {results[-1]}\n")
                sys.stdout.flush()
                await engine.library.remove(fault.name)
            figures = await measure(engine.sandbox, data)
            figures["witness_ms"] = await witness_ms(engine)
        finally:
            await engine.aclose()
    fixed = [one for one in results if one.corrected]
    wrong, told, changed = (
        sum(getattr(one, field) for one in fixed) for field in ("wrong", "told", "changed")
    )
    return {
        "faults": len(results),
        "corrected": round(len(fixed) / max(1, len(results)), 4),
        "learnt_complaints": sum(one.learnt for one in results),
        "recall": round(told / max(1, wrong), 4),
        "recall_precision": round(told / max(1, changed), 4),
        "seconds": round(median(one.seconds for one in results), 2),
        **figures,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the JSON lines")
    parser.add_argument("--faults", type=int, default=FAULTS)
    options = parser.parse_args()
    figures = asyncio.run(run(options.data, options.faults))
    return report(figures, {**witnesses.GOALS, "learnt_complaints": 0}, GOALS)


if __name__ == "__main__":
    sys.exit(main())
