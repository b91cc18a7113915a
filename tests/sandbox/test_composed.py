"""A plan that becomes one tool, in real containers of one backend: the tools of its steps are imported
and pinned.
"""

from collections.abc import Callable
from typing import Any

import pytest

from selfeng.core.events import (
    Event,
    ExecutionFinished,
    PlanMade,
    PlanStepChanged,
    TurnFinished,
)
from selfeng.core.plan import PlannedStep, SavedPlan, SavedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecificationReply
from selfeng.core.tool import Requirement
from selfeng.core.turn import Request
from selfeng.core.verdict import Returned
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from selfeng.orchestrator import Orchestrator
from selfeng.sandbox import SecureSandbox
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_offline.cookbook.recipe import recipe_for_tool
from tests.doubles import ScriptedModel, fenced, tool
from tests.engine.test_plans import WordLibrary
from tests.sandbox.backends import Behind

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.bubblewrap]

COMPOSED = recipe_for_tool("reverse_and_count_vowels")
REQUEST = "Reverse 'abc' and then count its vowels"
CALL = FunctionCall(name=COMPOSED.name, arguments={"text": "abc"})
NAMES = ("reverse_string", "count_vowels")
PLAN = SavedPlan(
    turn_id="t", request=REQUEST, steps=tuple(SavedStep(request=name, tool=name) for name in NAMES)
)
STEPS = SpecificationReply(
    outcome="steps",
    message="",
    specification=None,
    steps=(
        PlannedStep(id="reversed", request="reverse 'abc'", needs=()),
        PlannedStep(id="vowels", request="count the vowels of reversed", needs=("reversed",)),
    ),
)
NONE = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes two"})
BUILDS = (
    SpecificationReply(outcome="tool", message="", specification=COMPOSED.specification),
    fenced(COMPOSED.tests),
    fenced(COMPOSED.code),
    CALL,
)
BUILD = ["specification", "tests", "implementation", "arguments"]


@pytest.fixture
def sandbox(
    behind: Callable[[str], Behind], shared: Callable[[Behind, str], SecureSandbox]
) -> SecureSandbox:
    """One backend is enough: what differs between them is in test_library.py."""
    return shared(behind("bubblewrap"), "patient")


async def served(
    sandbox: SecureSandbox, *replies: Any, kind: Any = None
) -> tuple[ScriptedModel, list[Event]]:
    """The model and the events of a turn that builds the tool, which then serves the request."""
    library = WordLibrary(*(tool(name, recipe_for_tool(name).code) for name in NAMES))
    model, sources = ScriptedModel(*replies), PinnedSources(library)
    linked = LinkedSandbox(sandbox, library, sources)
    synthesis = SynthesisEngine(model, linked, library, "scripted")
    orchestrator = Orchestrator(
        library, Executor(model, linked, library, sources), synthesis, ResponseSynthesizer(model)
    )
    request = Request(REQUEST, kind=kind) if kind else Request(REQUEST)
    events = [event async for event in orchestrator.begin(request)]
    assert (await library.get(COMPOSED.name)).requires == tuple(
        Requirement(name=name, version=1) for name in sorted(NAMES)
    )
    assert (COMPOSED.name, 1, REQUEST) in library.requests
    again = [event async for event in orchestrator.begin(Request(REQUEST))]
    assert [
        event.type for event in again if event.type in ("plan_made", "synthesis_step", "tool_found")
    ] == ["tool_found"]
    assert _values(again) == _values(events) == ['["cba",1]']
    return model, events


async def test_a_kept_plan_is_a_tool_that_imports_the_tools_of_its_steps(
    sandbox: SecureSandbox,
) -> None:
    model, events = await served(sandbox, *BUILDS, "Kept.", CALL, "Again.", kind=PLAN)
    assert (events[0].type, events[0].keeps) == ("turn_started", "t")
    assert model.asked() == [*BUILD, "answer", "decide", "answer"]


async def test_a_plan_that_tools_serve_is_one_tool_from_then_on(sandbox: SecureSandbox) -> None:
    model, events = await served(sandbox, NONE, STEPS, *BUILDS, "One.", CALL, "Again.")
    assert model.asked() == ["decide", "specification", *BUILD, "answer", "decide", "answer"]
    changes = [e for e in events if isinstance(e, PlanMade | PlanStepChanged)]
    assert changes[0] == PlanMade(steps=STEPS.steps)
    assert [(e.step, e.state, e.tool) for e in changes[1:]] == [
        ("reversed", "finished", "reverse_string"),
        ("vowels", "finished", "count_vowels"),
    ]
    assert '"tool":"reverse_string"' in model.prompts[2].messages[-1].content
    assert f"from {NAMES[0]} import {NAMES[0]}" in model.prompts[4].messages[-1].content
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.outcome, last.tool, last.reused) == ("answered", COMPOSED.name, ())


def _values(events: list[Event]) -> list[str | None]:
    """The values that the calls returned."""
    executions = [e.execution for e in events if isinstance(e, ExecutionFinished)]
    return [execution.data for execution in executions if isinstance(execution, Returned)]
