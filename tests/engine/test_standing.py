"""Whole turns on a real library: a tool that is built, earns trust, loses it, and comes back by
hand.
"""

from pathlib import Path

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.events import Event, ToolStandingChanged
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecificationReply
from selfeng.core.verdict import Execution, Raised
from selfeng.orchestrator import Orchestrator
from selfeng.stages.decision import Thresholds
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.store.database import open_database
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import (
    CODE,
    TESTS,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    handled,
    passing,
    returned,
    specified,
)
from tests.embedding.hashing import HashingEmbedder

BROKEN = Raised(type_name="KeyError", message="'number'")
CANNOT = SpecificationReply(outcome="impossible", message="No.", specification=None)


def double(number: int) -> tuple[FunctionCall, str]:
    """The model's replies in a turn that uses the tool."""
    return FunctionCall(name="double_number", arguments={"number": number}), "There it is."


async def test_a_tool_is_provisional_then_trusted_then_retired_then_restored(
    tmp_path: Path,
) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    library = CapabilityRegistry(
        engine, tmp_path / "tools", tmp_path / "chroma_db", HashingEmbedder()
    )
    await library.start()
    build = (specified(), fenced(TESTS), fenced(CODE))
    uses = [part for number in (4, 5, 6) for part in double(number)]
    for number in (7, 8):
        call, answer = double(number)
        uses += [call, "misuse", answer]
    uses += double(9)
    model = ScriptedModel(*build, *uses, CANNOT, *double(4))
    runs: list[Execution] = [returned()] * 3 + [BROKEN] * 3 + [returned()]
    sandbox = ScriptedSandbox(failing(), passing(), *runs)
    executor, synthesis = (
        Executor(model, sandbox, library),
        SynthesisEngine(model, sandbox, library, model_name="scripted"),
    )
    orchestrator = Orchestrator(
        library,
        executor,
        synthesis,
        ResponseSynthesizer(model),
        thresholds=Thresholds(threshold=0.0, floor=0.0),
    )

    async def ask() -> list[Event]:
        events = list[Event]()
        await handled(orchestrator, "double a number", events.append)
        return events

    turns = [await ask() for _ in range(7)]
    assert [[e for e in events if isinstance(e, ToolStandingChanged)] for events in turns] == [
        [],
        [],
        [
            ToolStandingChanged(
                tool="double_number",
                before="provisional",
                after="trusted",
                reason="It has served 3 different calls.",
            )
        ],
        [],
        [],
        [
            ToolStandingChanged(
                tool="double_number",
                before="trusted",
                after="retired",
                reason="It failed 3 times in a row, last with KeyError.",
            )
        ],
        [],
    ]
    assert [e.type for e in turns[6] if e.type != "stage_entered"][:3] == [
        "turn_started",
        "searching",
        "no_tool_found",
    ]
    assert turns[6][-1].outcome == "declined"
    await library.restore("double_number")
    assert (await ask())[-1].type == "turn_finished"
    await library.aclose()
    engine.dispose()
