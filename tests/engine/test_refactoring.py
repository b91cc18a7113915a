"""A kept tool that is made faster on request: raced against what it was, and left as it is where a
rewriting is slower or does something else.
"""

import re
from typing import Any

import pytest

from selfeng.core import turn as core_turn
from selfeng.core.errors import SynthesisFailed
from selfeng.core.events import Event, StageEntered, TurnFailed, TurnFinished
from selfeng.core.provenance import Refactored
from selfeng.core.signature import parse_signature
from selfeng.core.stage import STAGES
from selfeng.core.tool import Tool
from selfeng.core.turn import Request, Turn
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import ListedLibrary, ScriptedModel, fenced, tool
from tests.engine.honest_sandbox import HonestSandbox

SLOW = """def distinct(items: list) -> list:
    found = []
    for item in items:
        if item not in found:
            found.append(item)
    return found
"""
FAST = """def distinct(items: list) -> list:
    return list(dict.fromkeys(items))
"""
SORTED = """def distinct(items: list) -> list:
    return sorted(set(items))
"""
SLOWER = """def distinct(items: list) -> list:
    return [item for place, item in enumerate(items) if item not in list(items[:place])]
"""
TESTS = """from distinct import distinct


def test_repeated():
    assert distinct([1, 2, 2, 3, 3]) == [1, 2, 3]


def test_empty():
    assert distinct([]) == []
"""


def kept(code: str = SLOW, tests: str = TESTS) -> Tool:
    signature = parse_signature(code, "distinct")
    return tool().model_copy(
        update={"name": "distinct", "signature": signature, "code": code, "tests": tests}
    )


class Refactoring:
    """One tool that a scripted model is to make faster, in a sandbox without walls."""

    def __init__(self, *replies: object, before: Tool | None = None, rewrites: int = 0) -> None:
        self.model, self.library = ScriptedModel(*replies), ListedLibrary(before or kept())
        self.events: list[Event] = []
        self._sandbox: Any = HonestSandbox()
        self.synthesis = SynthesisEngine(
            self.model,
            self._sandbox,
            self.library,
            "scripted",
            SynthesisPolicy(max_rewrites=rewrites),
        )

    async def run(self) -> str:
        turn = Turn(Request("Make distinct faster"), self.events.append)
        return (await self.synthesis.refactor(turn, await self.library.get("distinct"))).text

    async def as_a_turn(self) -> None:
        executor = Executor(self.model, self._sandbox, self.library)
        orchestrator = Orchestrator(
            self.library, executor, self.synthesis, ResponseSynthesizer(self.model)
        )
        async for event in aiter(
            orchestrator.begin(
                Request("Make it faster", kind=core_turn.Refactoring(tool="distinct"))
            )
        ):
            self.events.append(event)


async def test_a_quadratic_tool_becomes_a_linear_version_with_its_factor():
    run = Refactoring(fenced(FAST))
    told = await run.run()
    new = await run.library.get("distinct")
    assert (new.version, new.code, new.tests) == (2, FAST, TESTS)
    origin = (await run.library.version("distinct", 2)).provenance.origin
    assert isinstance(origin, Refactored)
    assert origin.factor > 3
    assert re.fullmatch(r"[\d.]+× faster", str(origin))
    assert f"has version 2. It is {origin}: " in told
    assert int(re.findall(r"for (\d+) calls", told)[0]) >= 200
    assert "<call>\ndistinct(items=[" in run.model.prompts[0].messages[-1].content


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (SORTED, r"for distinct\(items=.*\) version 1 returns \[.*\] and this one returns \[.*\]"),
        (SLOWER, r"it is 0\.\d+× as fast as version 1, not 1\.2×"),
        (SLOW, "it is the code as it was"),
        (FAST.replace("items))", "items))[1:]"), r"2 of 2 tests failed|1 of 2 tests failed"),
    ],
    ids=["another order", "slower", "unchanged", "failing"],
)
async def test_what_is_slower_or_does_something_else_is_refused_with_the_reason(code, problem):
    run = Refactoring(fenced(code))
    with pytest.raises(
        SynthesisFailed, match=f"^distinct stays at version 1: .*{problem}"
    ) as caught:
        await run.run()
    assert (caught.value.where, (await run.library.get("distinct")).code) == ("refactor", SLOW)


@pytest.mark.parametrize(
    ("before", "problem"),
    [
        (kept(tests="from distinct import distinct\n"), "none of its tests calls it with plain"),
        (kept(code="def distinct(items: list) -> int:\n    return 1\n"), "too little to gain"),
    ],
)
async def test_where_nothing_can_be_gained_no_model_is_asked(before, problem):
    run = Refactoring(before=before)
    with pytest.raises(SynthesisFailed, match=problem):
        await run.run()
    assert run.model.prompts == []


async def test_a_model_that_knows_no_faster_way_ends_it():
    with pytest.raises(SynthesisFailed, match="the model knows no faster way"):
        await Refactoring("optimal").run()


async def test_a_refused_version_goes_back_with_the_reason():
    run = Refactoring(fenced(SORTED), fenced(FAST), rewrites=1)
    assert "version 2" in await run.run()
    assert "version 1 returns" in run.model.prompts[1].messages[-1].content


async def test_the_person_watches_a_turn_of_its_own():
    run = Refactoring(fenced(FAST))
    await run.as_a_turn()
    assert [e.node for e in run.events if isinstance(e, StageEntered)] == [
        "gather",
        "refactor",
        "respond",
    ]
    assert STAGES["refactor"].prompts == (run.model.prompts[0].name,)
    assert isinstance(run.events[-1], TurnFinished)
    assert "× faster" in run.events[-1].answer


async def test_a_turn_without_a_faster_version_fails_and_says_why():
    run = Refactoring(fenced(SORTED))
    await run.as_a_turn()
    assert isinstance(run.events[-1], TurnFailed)
    assert (run.events[-1].where, "and this one returns" in run.events[-1].message) == (
        "refactor",
        True,
    )


def test_a_factor_of_hundreds_is_written_out():
    factors = (2.46, 10.2, 423.1, 4_234.0, 3_210_000.0)
    assert [str(Refactored(factor=factor)) for factor in factors] == [
        f"{said}× faster" for said in ("2.5", "10", "420", "4,200", "3,200,000")
    ]
