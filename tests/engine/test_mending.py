"""A kept tool that fails in use: mended where it is at fault, called again, and left as it is in
every other case.
"""

import pytest

from selfeng.core.errors import ModelUnavailable
from selfeng.core.events import Executing, SynthesisStep, ToolStandingChanged
from selfeng.core.plan import PlannedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.provenance import AskedPrompt, Provenance, Repaired
from selfeng.core.spec import SpecificationReply
from selfeng.core.tool import Requirement, Tool
from selfeng.core.verdict import Execution, Killed, Raised
from tests.doubles import (
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    returned,
    tool,
)
from tests.engine.test_orchestrator import ADD, NONE, Turns

TESTS = (
    "from add_numbers import add_numbers\n\n\ndef test_adds():\n    assert add_numbers(a=1) == 2\n"
)
KEPT = tool().model_copy(update={"tests": TESTS})
MENDED = "def add_numbers(a: int, b: int = 1) -> int:\n    return sum((a, b))\n"
BROKE = Raised(type_name="KeyError", message="'secret'")


def turns(
    *replies: object, runs: tuple[object, ...] = (BROKE,), library: ListedLibrary | None = None
) -> Turns:
    return Turns(
        ScriptedModel(ADD, *replies), ScriptedSandbox(*runs), library or ListedLibrary(KEPT)
    )


def steps(run: Turns) -> list[tuple[str, str]]:
    return [
        (e.step, e.state)
        for e in run.events
        if isinstance(e, SynthesisStep) and e.state != "streaming"
    ]


@pytest.mark.parametrize(
    ("failure", "shown", "kept"),
    [
        (BROKE, "KeyError: 'secret'", "KeyError"),
        (
            Killed(reason="It ran for more than 30 seconds."),
            "It ran for more than 30 seconds.",
            "“It ran for more than 30 seconds”",
        ),
    ],
)
async def test_a_tool_that_is_at_fault_becomes_a_new_version_which_is_called_again(
    failure: Execution, shown: str, kept: str
):
    run = turns(fenced(MENDED), "It is 3.", runs=(failure, passing(), failing(), returned("3")))
    await run.ask("2 plus 1")
    mended = await run.library.get("add_numbers")
    assert (mended.version, mended.code, mended.tests) == (2, MENDED, TESTS)
    assert run.sandbox.verified[:1] == [("add_numbers", MENDED, TESTS)]
    assert MENDED in {
        version.code for version in run.sandbox.repeated if version.order == "shuffled"
    }
    assert run.sandbox.executed == [("add_numbers", {"a": 2})] * 2
    assert run.library.uses == ["add_numbers"]
    prompt = run.model.prompts[1]
    assert (prompt.name, run.events[-1].answer) == ("mend", "It is 3.")
    assert (
        f"<call>\nadd_numbers(a=2)\n</call>\n\n<failure>\n{shown}\n</failure>"
        in prompt.messages[-1].content
    )
    made = (await run.library.version("add_numbers", 2)).provenance
    assert made == Provenance(
        origin=Repaired(failure=kept),
        verdict=passing().model_copy(update={"strength": made.verdict.strength}),
        prompts=(AskedPrompt.of(prompt),),
        usage=made.usage,
        seconds=made.seconds,
    )
    assert steps(run) == [
        (s, state) for s in ("implement", "verify", "register") for state in ("started", "finished")
    ]


async def test_a_tool_is_mended_once_for_a_call():
    run = turns(fenced(MENDED), "It can't.", runs=(BROKE, passing(), failing(), BROKE))
    await run.ask("2 plus 1")
    assert (await run.library.get("add_numbers")).version == 2
    assert run.library.failures == ["add_numbers 1: KeyError", "add_numbers 2: KeyError"]
    assert run.model.asked() == ["decide", "mend", "answer"]


@pytest.mark.parametrize(
    ("replies", "runs"),
    [
        (("misuse",), (BROKE,)),
        ((ModelUnavailable("no answer"),), (BROKE,)),
        ((fenced(MENDED),), (BROKE, failing(), failing("test_adds"))),
        ((fenced("def other() -> int:\n    return 1\n"),), (BROKE,)),
    ],
)
async def test_a_tool_that_is_not_mended_stays_and_the_first_outcome_counts(
    replies: tuple[object, ...], runs: tuple[object, ...]
):
    run = turns(*replies, "It failed.", runs=runs)
    await run.ask("2 plus 1")
    assert await run.library.get("add_numbers") == KEPT
    assert (len(run.sandbox.executed), run.events[-1].answer) == (1, "It failed.")
    assert "KeyError" in run.model.prompts[-1].messages[-1].content


async def test_bad_input_is_nothing_to_mend():
    run = turns("That can't be.", runs=(Raised(type_name="ValueError", message="a is negative"),))
    await run.ask("2 plus 1")
    assert run.model.asked() == ["decide", "answer"]


async def test_a_tool_that_the_failure_retired_is_not_mended():
    class Strict(ListedLibrary):
        async def record_failure(
            self, name: str, version: int, problem: str, key: str = ""
        ) -> ToolStandingChanged | None:
            self.replace((await self.get(name)).model_copy(update={"standing": "retired"}))
            return None

    run = turns("It failed.", library=Strict(KEPT))
    await run.ask("2 plus 1")
    assert run.model.asked() == ["decide", "answer"]


async def test_a_tool_keeps_what_it_imports_also_where_that_is_retired():
    half = tool("half", "def half(n: int) -> int:\n    return n // 2\n").model_copy(
        update={"standing": "retired"}
    )
    importing = f"from half import half\n\n\n{KEPT.code}"
    kept = KEPT.model_copy(
        update={"code": importing, "requires": (Requirement(name="half", version=1),)}
    )
    run = turns(
        fenced(f"from half import half\n\n\n{MENDED}"),
        "3",
        runs=(BROKE, passing(), failing(), returned("3")),
        library=ListedLibrary(kept, half),
    )
    await run.ask("2 plus 1")
    mended: Tool = await run.library.get("add_numbers")
    assert (mended.version, mended.requires) == (2, kept.requires)
    assert (
        "<tools>\nfrom half import half  # half(n: int) -> int"
        in run.model.prompts[1].messages[-1].content
    )


async def test_a_step_of_a_plan_is_mended_under_its_own_id():
    plan = (
        PlannedStep(id="one", request="2 plus 1", needs=()),
        PlannedStep(id="two", request="2 plus 1 again", needs=("one",)),
    )
    wanted = SpecificationReply(outcome="steps", message="", specification=None, steps=plan)
    call = FunctionCall(name="add_numbers", arguments={"a": 2})
    model = ScriptedModel(NONE, wanted, call, fenced(MENDED), call, "Both are 3.")
    run = Turns(
        model,
        ScriptedSandbox(BROKE, passing(), failing(), returned("3"), returned("3")),
        ListedLibrary(KEPT),
    )
    await run.ask("add twice")
    assert [e.plan_step for e in run.events if isinstance(e, Executing)] == ["one", "one", "two"]
    assert {
        e.plan_step for e in run.events if isinstance(e, SynthesisStep) and e.step != "specify"
    } == {"one"}
    assert run.events[-1].answer == "Both are 3."
