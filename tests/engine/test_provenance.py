"""The record of how a tool came to be."""

from selfeng.core.events import Event
from selfeng.core.provenance import AskedPrompt, Provenance
from selfeng.core.turn import Request, Turn
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    specified,
    tool,
)


async def _synthesize(
    model: ScriptedModel, sandbox: ScriptedSandbox, library: ListedLibrary
) -> Turn:
    events = list[Event]()
    turn = Turn(Request("double 4"), events.append)
    await SynthesisEngine(model, sandbox, library, model_name="scripted").synthesize(turn)
    return turn


async def test_a_new_tool_keeps_its_verdict_its_prompts_and_what_it_cost() -> None:
    model, library = (
        ScriptedModel(specified(), fenced(TESTS), fenced("x"), fenced(CODE)),
        ListedLibrary(),
    )
    turn = await _synthesize(model, ScriptedSandbox(failing(), passing()), library)
    made = (await library.version("double_number", 1)).provenance
    assert made == Provenance(
        verdict=passing().model_copy(update={"strength": made.verdict.strength}),
        prompts=tuple(AskedPrompt.of(p) for p in model.prompts),
        usage=turn.budget.usage,
        seconds=made.seconds,
    )
    assert made.seconds
    assert [p.name for p in made.prompts] == [
        "specification",
        "tests",
        "implementation",
        "implementation",
    ]
    assert len({p.digest for p in made.prompts}) == 4
    assert made.usage
    assert made.usage.calls == 4


async def test_a_retired_tool_is_not_taken_for_the_one_that_is_specified() -> None:
    retired = tool("double_number", CODE).model_copy(update={"standing": "retired"})
    model = ScriptedModel(
        specified(),
        specified("double_it"),
        fenced(TESTS.replace("double_number", "double_it")),
        fenced(CODE.replace("double_number", "double_it")),
    )
    library = ListedLibrary(retired)
    await _synthesize(model, ScriptedSandbox(failing(), passing()), library)
    assert [t.name for t in await library.tools()] == ["double_number", "double_it"]
