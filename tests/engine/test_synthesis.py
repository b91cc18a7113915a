"""The synthesis engine with a scripted model and a scripted sandbox: what it asks, shows, refuses
and registers.
"""

from collections.abc import Sequence

import pytest

from selfeng.core.errors import ModelRefused, ModelUnavailable, SandboxFailed, SynthesisFailed
from selfeng.core.events import Event, SuiteRepeated, SynthesisStep, TestFinished
from selfeng.core.question import Question
from selfeng.core.spec import SpecExample, SpecificationReply, SpecParameter
from selfeng.core.tool import Requirement
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import TestResult, Verdict
from selfeng.synthesis.specifying import Analyst, BuildSpec
from selfeng.synthesis.steps import Steps
from selfeng.synthesis_engine import (
    DelegateToAgents,
    DirectAnswer,
    SynthesisEngine,
    SynthesisPolicy,
)
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    specification,
    specified,
    tool,
)

WRONG = "def double_number(number: int) -> int:\n    return number\n"


def steps(events: list[Event]) -> list[tuple[str, str, int]]:
    """(step, state, attempt) of every step event but the streamed pieces."""
    return [
        (e.step, e.state, e.attempt)
        for e in events
        if isinstance(e, SynthesisStep) and e.state != "streaming"
    ]


class Run:
    """A synthesis and everything it touched."""

    def __init__(
        self, model: ScriptedModel, sandbox: ScriptedSandbox, library: ListedLibrary | None = None
    ) -> None:
        self.model, self.sandbox, self.library = model, sandbox, library or ListedLibrary()
        self.events: list[Event] = []
        self.engine = SynthesisEngine(
            self.model,
            self.sandbox,
            self.library,
            model_name="scripted",
            policy=SynthesisPolicy(max_repairs=2),
        )

    async def synthesize(self, request: str = "double 4"):
        return await self.engine.synthesize(Turn(Request(request), self.events.append))


async def test_a_tool_goes_through_every_step_and_into_the_library():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    built = await run.synthesize()
    assert built == await run.library.get("double_number")
    assert (built.code, built.tests, built.model) == (CODE, TESTS, "scripted")
    assert (built.example_requests, run.library.requests) == (
        ("twice 7",),
        [("double_number", 1, "double 4")],
    )
    assert steps(run.events) == [
        ("specify", "started", 1),
        ("specify", "finished", 1),
        ("test", "started", 1),
        ("test", "finished", 1),
        ("implement", "started", 1),
        ("implement", "finished", 1),
        ("verify", "started", 1),
        ("verify", "finished", 1),
        ("strengthen", "started", 1),
        ("strengthen", "finished", 1),
        ("register", "started", 1),
        ("register", "finished", 1),
    ]
    assert run.model.asked() == ["specification", "tests", "implementation"]


@pytest.mark.parametrize(
    "request_", ["double " + "4" * 500, "double 4 for ghp_0123456789abcdefghijABCDEFGHIJ012345"]
)
async def test_a_long_request_and_one_with_a_secret_are_not_kept_with_the_tool(request_):
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    assert (await run.synthesize(request_)).example_requests == ("double 4", "twice 7")
    assert run.library.requests == []


async def test_the_suite_runs_on_a_stub_before_any_code_exists():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    await run.synthesize()
    (_, stub, tests), (_, code, same_tests) = run.sandbox.verified
    assert "NotWritten" in stub
    assert (tests, code, same_tests) == (TESTS, CODE, TESTS)
    against = [e.against for e in run.events if isinstance(e, TestFinished)]
    assert against == ["stub", "implementation"]


async def test_what_the_model_writes_is_streamed_and_shown_whole_at_the_end():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    await run.synthesize()
    streamed = [e for e in run.events if isinstance(e, SynthesisStep) and e.step == "implement"]
    assert "".join(e.text for e in streamed if e.state == "streaming") == fenced(CODE)
    assert (streamed[-1].artifact, streamed[-1].prompt) == (CODE, "implementation")


async def test_a_suite_that_passes_on_the_stub_is_written_again():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(passing(), failing(), passing()),
    )
    await run.synthesize()
    assert ("test", "failed", 1) in steps(run.events)
    assert ("test", "finished", 2) in steps(run.events)
    assert "pass on an empty stub" in run.model.prompts[2].messages[-1].content


async def test_a_suite_that_never_turns_red_ends_the_synthesis_at_that_step():
    run = Run(
        ScriptedModel(specified(), *[fenced(TESTS)] * 3),
        ScriptedSandbox(passing(), passing(), passing()),
    )
    with pytest.raises(SynthesisFailed, match="no usable tests in 3 attempts") as caught:
        await run.synthesize()
    assert caught.value.where == "test"
    assert await run.library.tools() == ()


async def test_a_suite_that_accepts_any_value_is_written_again():
    asked = iter([passing] * 4 + [failing] * 4)
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(
            failing(),
            failing(),
            passing(),
            again=lambda v: next(asked, passing)() if v.whole else failing(),
        ),
    )
    await run.synthesize()
    assert "the suite is flaky" in run.model.prompts[2].messages[-1].content
    assert steps(run.events)[3:6] == [
        ("test", "failed", 1),
        ("test", "started", 2),
        ("test", "finished", 2),
    ]


async def test_a_flaky_implementation_is_repaired_as_one_that_fails():
    asked = iter([failing] * 4 + [passing, failing, passing, failing, passing, failing])
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(WRONG), fenced(CODE)),
        ScriptedSandbox(
            failing(),
            passing(),
            passing(),
            again=lambda v: next(asked, passing)() if v.whole else failing(),
        ),
    )
    built = await run.synthesize()
    assert built.code == CODE
    assert run.model.asked() == ["specification", "tests", "implementation", "repair"]
    assert (
        "flaky: every test passed at first, but run again in shuffled order"
        in run.model.prompts[-1].messages[-1].content
    )
    repeated = [
        (e.against, e.attempt, e.order, e.same, e.detail)
        for e in run.events
        if isinstance(e, SuiteRepeated)
    ]
    assert repeated == [
        ("stub", 1, "reversed", True, ""),
        ("stub", 1, "shuffled", True, ""),
        ("implementation", 1, "reversed", True, ""),
        ("implementation", 1, "shuffled", False, "test_doubles_a_number failed"),
        ("implementation", 2, "reversed", True, ""),
        ("implementation", 2, "shuffled", True, ""),
    ]


async def test_repairs_of_flaky_code_are_bounded():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), *[fenced(CODE)] * 3),
        ScriptedSandbox(failing(), passing(), passing(), passing(), again=lambda v: failing()),
    )
    with pytest.raises(
        SynthesisFailed, match="no implementation passed the tests in 3 attempts; the last: flaky: "
    ) as caught:
        await run.synthesize()
    assert caught.value.where == "verify"
    assert await run.library.tools() == ()


async def test_failures_go_back_to_the_model_and_the_tests_stay_frozen():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(WRONG), fenced(CODE)),
        ScriptedSandbox(
            failing(), failing(message="assert 4 == 8 where 4 = double_number(number=4)"), passing()
        ),
    )
    built = await run.synthesize()
    assert built.code == CODE
    assert run.model.asked() == ["specification", "tests", "implementation", "repair"]
    repair = run.model.prompts[-1].messages[-1].content
    assert WRONG in repair
    assert "assert 4 == 8 where 4 = double_number(number=4)" in repair
    assert {tests for _, _, tests in run.sandbox.verified} == {TESTS}


async def test_the_programmer_reads_what_each_test_took():
    slow = Verdict(
        passed=False,
        problem="It used 30 s of processor time, in test_c.",
        tests=(
            TestResult(test="test_a", outcome="passed", seconds=0.004),
            TestResult(test="test_b", outcome="failed", seconds=2.5, message="assert 1 == 2"),
        ),
    )
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(WRONG), fenced(CODE)),
        ScriptedSandbox(failing(), slow, passing()),
    )
    await run.synthesize()
    assert (
        "It used 30 s of processor time, in test_c.\n\n"
        "test_b: failed after 2.50 s\nassert 1 == 2\n\n"
        "passed: test_a (0.00 s)"
    ) in run.model.prompts[-1].messages[-1].content


async def test_repairs_are_bounded_and_nothing_is_registered_that_did_not_pass():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), *[fenced(WRONG)] * 3, specified()),
        ScriptedSandbox(failing(), failing(), failing(), failing()),
    )
    with pytest.raises(
        SynthesisFailed,
        match="no implementation passed the tests in 3 attempts; the last: 1 of 1 test failed",
    ) as caught:
        await run.synthesize()
    assert caught.value.where == "verify"
    assert await run.library.tools() == ()


async def test_code_with_another_signature_never_reaches_the_sandbox():
    other = "def double_number(value: int) -> int:\n    return 2 * value\n"
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(other), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    await run.synthesize()
    assert ("implement", "failed", 1) in steps(run.events)
    assert (
        "the signature is `double_number(value: int) -> int`"
        in run.model.prompts[-1].messages[-1].content
    )


async def test_a_reply_without_code_is_asked_for_again():
    run = Run(
        ScriptedModel(specified(), "I would rather not.", fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    await run.synthesize()
    assert "the reply holds no block of Python code" in run.model.prompts[2].messages[-1].content


async def test_a_taken_name_is_refused_and_specified_again():
    run = Run(
        ScriptedModel(specified("add_numbers"), specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
        ListedLibrary(tool("add_numbers")),
    )
    await run.synthesize()
    assert (
        "the name add_numbers is taken by a tool that does something else"
        in run.model.prompts[1].messages[-1].content
    )


async def test_a_tool_that_the_search_missed_is_used_and_not_built_again():
    known = tool("double_number", CODE)
    run = Run(ScriptedModel(specified()), ScriptedSandbox(), ListedLibrary(known))
    assert await run.synthesize() == known
    assert steps(run.events) == [("specify", "started", 1), ("specify", "finished", 1)]


async def test_two_turns_that_build_the_same_tool_share_the_first_one():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), passing()),
    )
    faster = tool("double_number", CODE).model_copy(
        update={"signature": specification().signature()}
    )

    class Raced(ListedLibrary):
        async def check_name(self, name: str) -> None:
            if run.sandbox.verified:
                self._tools.setdefault(faster.name, faster)
            await super().check_name(name)

    run.library = Raced()
    run.engine = SynthesisEngine(run.model, run.sandbox, run.library, model_name="scripted")
    assert await run.synthesize() == faster


UNIT = Question(
    id="unit",
    question="Which unit?",
    why="for the result",
    answer="choice",
    options=("m", "ft"),
    default="m",
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"outcome": "answer", "message": "Hello!"}, DirectAnswer(text="Hello!")),
        (
            {"outcome": "question", "message": "Which?"},
            DirectAnswer(text="", questions=(Question(id="request", question="Which?"),)),
        ),
        (
            {"outcome": "question", "message": "One thing:", "questions": (UNIT,)},
            DirectAnswer(text="One thing:", questions=(UNIT,)),
        ),
        ({"outcome": "delegate", "message": ""}, DelegateToAgents()),
    ],
)
async def test_a_request_that_needs_no_tool_is_answered_asked_about_or_handed_over(
    fields, expected
):
    run = Run(ScriptedModel(SpecificationReply(specification=None, **fields)), ScriptedSandbox())
    assert await run.synthesize() == expected


async def test_questions_that_make_no_sense_go_back_to_the_model():
    bad = SpecificationReply(
        outcome="question",
        message="",
        specification=None,
        questions=(UNIT.model_copy(update={"default": "mile"}),),
    )
    good = SpecificationReply(outcome="question", message="", specification=None, questions=(UNIT,))
    run = Run(ScriptedModel(bad, good), ScriptedSandbox())
    assert await run.synthesize() == DirectAnswer(text="", questions=(UNIT,))
    assert (
        "the default of unit='mile' is not one of m, ft"
        in run.model.prompts[1].messages[-1].content
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (
            SpecificationReply(
                outcome="impossible", message="That needs the network.", specification=None
            ),
            "That needs the network.",
        ),
        (ModelRefused("the model declined: no."), "the model declined: no."),
    ],
    ids=["no tool can do it", "the model refuses"],
)
async def test_what_is_not_done_here_is_declined_with_the_reason(reply, reason):
    run = Run(ScriptedModel(reply), ScriptedSandbox(), ListedLibrary())
    declined = await run.engine.synthesize(Turn(Request("Rome"), run.events.append))
    assert declined == DirectAnswer(text=reason, declined=True)
    assert steps(run.events) == [("specify", "started", 1), ("specify", "finished", 1)]


async def test_a_broken_sandbox_is_no_failed_test():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(failing(), SandboxFailed("the engine went away")),
    )
    with pytest.raises(SandboxFailed) as caught:
        await run.synthesize()
    assert caught.value.where == "verify"
    assert run.model.asked() == ["specification", "tests", "implementation"]


async def test_a_model_that_goes_away_ends_the_step_it_was_needed_for():
    run = Run(ScriptedModel(specified(), ModelUnavailable("no answer")), ScriptedSandbox())
    with pytest.raises(ModelUnavailable) as caught:
        await run.synthesize()
    assert caught.value.where == "test"
    assert steps(run.events)[-1] == ("test", "failed", 1)


async def test_a_suite_that_cannot_run_on_the_stub_is_written_again_with_the_reason():
    broken = Verdict(passed=False, problem="ImportError: cannot import name 'helper'")
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(TESTS), fenced(CODE)),
        ScriptedSandbox(broken, failing(), passing()),
    )
    await run.synthesize()
    assert (
        "the suite does not run: ImportError: cannot import name 'helper'"
        in run.model.prompts[2].messages[-1].content
    )


HALF = tool("half", "def half(n: int) -> int:\n    return n // 2\n").model_copy(
    update={"version": 3}
)
IMPORTING = f"from half import half\n\n\n{CODE}"


async def test_a_tool_is_pinned_to_what_it_imports():
    run = Run(
        ScriptedModel(specified(), fenced(TESTS), fenced(IMPORTING)),
        ScriptedSandbox(failing(), passing()),
        ListedLibrary(HALF),
    )
    built = await run.synthesize()
    assert built.requires == (Requirement(name="half", version=3),)
    shown = run.model.prompts[-1].messages[-1].content
    assert "<tools>\nfrom half import half  # half(n: int) -> int: Add numbers.\n</tools>" in shown


async def test_an_import_that_is_not_allowed_is_refused_before_the_sandbox():
    retired = HALF.model_copy(update={"standing": "retired"})
    model = ScriptedModel(specified(), fenced(TESTS), fenced(IMPORTING), fenced(CODE))
    run = Run(model, ScriptedSandbox(failing(), passing()), ListedLibrary(retired))
    assert (await run.synthesize()).requires == ()
    refused = [e.text for e in run.events if isinstance(e, SynthesisStep) and e.state == "failed"]
    assert refused == ["Refused: the tool half is retired; do without it."]
    assert "<tools>" not in model.prompts[-1].messages[-1].content


async def test_a_tool_that_changes_while_it_is_used_ends_the_registration():
    library = ListedLibrary(HALF)

    class Meanwhile(ScriptedSandbox):
        async def verify(self, job, on_test):
            if job.code == IMPORTING:
                library.replace(HALF.model_copy(update={"version": 4}))
            return await super().verify(job, on_test)

    sandbox = Meanwhile(failing(), passing())
    run = Run(ScriptedModel(specified(), fenced(TESTS), fenced(IMPORTING)), sandbox, library)
    with pytest.raises(
        SynthesisFailed, match=r"the tools that it imports \(half\) have changed meanwhile"
    ):
        await run.synthesize()


SUM_CODE = "def sum_column(path: str, column: str) -> float:\n    return 0.0\n"


def file_tool_specified(name: str, *further: tuple[str, str, str | None]) -> SpecificationReply:
    given = (("path", "str", None), ("column", "str", None), *further)
    spec = specification(name).model_copy(
        update={
            "description": "Add up a column of a semicolon separated file.",
            "parameters": tuple(
                SpecParameter(name=n, annotation=a, default=d, description="") for n, a, d in given
            ),
            "returns": "float",
            "examples": (
                SpecExample(
                    call=f"{name}(path='a.csv', column='b')  # a.csv: 'b\\n1\\n'", result="1.0"
                ),
            ),
        }
    )
    return SpecificationReply(outcome="tool", message="", specification=spec)


async def specify_beside_a_file_tool(
    *replies: SpecificationReply, likely: Sequence[str] = ()
) -> tuple[Run, object]:
    known = tool("sum_column", SUM_CODE)
    run = Run(ScriptedModel(*replies), ScriptedSandbox(), ListedLibrary(known))
    analyst = Analyst(run.model, run.sandbox, run.library, SynthesisPolicy())
    steps = Steps(Turn(Request("sum b"), run.events.append))
    return run, await analyst.specify(steps, likely, likely)


async def test_the_first_prompt_shows_a_near_tool_and_its_next_version_costs_no_second():
    extended = file_tool_specified("sum_column", ("delimiter", "str", "','"))
    run, built = await specify_beside_a_file_tool(extended, likely=("sum_column",))
    assert isinstance(built, BuildSpec)
    assert (built.spec.name, built.extends and built.extends.name) == ("sum_column",) * 2
    (prompt,) = run.model.prompts
    assert "Compare first" in prompt.messages[0].content
    assert SUM_CODE.strip() in prompt.messages[-1].content


async def test_another_operation_on_files_is_specified_at_once():
    run, built = await specify_beside_a_file_tool(file_tool_specified("sum_by_month"))
    assert isinstance(built, BuildSpec)
    assert (built.spec.name, built.extends, len(run.model.prompts)) == ("sum_by_month", None, 1)


def test_a_null_in_a_specification_means_that_nothing_was_said():
    written = file_tool_specified("sum_by_month")
    nulls = dict.fromkeys(("agent", "call", "steps", "questions"))
    assert SpecificationReply.model_validate({**written.model_dump(), **nulls}) == written
