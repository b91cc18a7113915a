"""A plan kept as one tool, in real containers of one backend: the tools of its steps are imported
and pinned.
"""

from collections.abc import Callable

import pytest

from selfeng.core.events import Event, ExecutionFinished
from selfeng.core.plan import SavedPlan, SavedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecificationReply
from selfeng.core.tool import Requirement
from selfeng.core.turn import Request
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from selfeng.orchestrator import Orchestrator
from selfeng.sandbox import SecureSandbox
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_offline.cookbook.recipe import recipe_for_tool
from tests.doubles import ListedLibrary, ScriptedModel, fenced, tool
from tests.sandbox.backends import Behind

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.bubblewrap]

COMPOSED = recipe_for_tool("reverse_and_count_vowels")
REQUEST = "Reverse 'abc' and then count its vowels"
CALL = FunctionCall(name=COMPOSED.name, arguments={"text": "abc"})
NAMES = ("reverse_string", "count_vowels")
PLAN = SavedPlan(
    turn_id="t", request=REQUEST, steps=tuple(SavedStep(request=name, tool=name) for name in NAMES)
)


@pytest.fixture
def sandbox(
    behind: Callable[[str], Behind], shared: Callable[[Behind, str], SecureSandbox]
) -> SecureSandbox:
    """One backend is enough: what differs between them is in test_library.py."""
    return shared(behind("bubblewrap"), "patient")


async def test_a_kept_plan_is_a_tool_that_imports_the_tools_of_its_steps(
    sandbox: SecureSandbox,
) -> None:
    library = ListedLibrary(*(tool(name, recipe_for_tool(name).code) for name in NAMES))
    spec = SpecificationReply(outcome="tool", message="", specification=COMPOSED.specification)
    model = ScriptedModel(
        spec, fenced(COMPOSED.tests), fenced(COMPOSED.code), CALL, "Kept.", CALL, "Again."
    )
    sources = PinnedSources(library)
    linked = LinkedSandbox(sandbox, library, sources)
    synthesis = SynthesisEngine(model, linked, library, "scripted")
    orchestrator = Orchestrator(
        library, Executor(model, linked, library, sources), synthesis, ResponseSynthesizer(model)
    )
    kept = [event async for event in orchestrator.begin(Request(REQUEST, kind=PLAN))]
    assert (kept[0].type, kept[0].keeps) == ("turn_started", "t")
    assert (await library.get(COMPOSED.name)).requires == tuple(
        Requirement(name=name, version=1) for name in sorted(NAMES)
    )
    assert (COMPOSED.name, 1, REQUEST) in library.requests
    again = [event async for event in orchestrator.begin(Request(REQUEST))]
    assert [
        told.type for told in again if told.type in ("plan_made", "synthesis_step", "tool_found")
    ] == ["tool_found"]
    for turn in (kept, again):
        assert [_value(event) for event in turn if isinstance(event, ExecutionFinished)] == [
            '["cba",1]'
        ]
    assert model.asked() == [
        "specification",
        "tests",
        "implementation",
        "arguments",
        "answer",
        "decide",
        "answer",
    ]


def _value(event: Event) -> str | None:
    assert isinstance(event, ExecutionFinished)
    assert event.execution.outcome == "returned"
    return event.execution.data
