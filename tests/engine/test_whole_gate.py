"""Whole turns through the gate: requests whose tests, examples, candidates or specification are
wrong, and what becomes of them.
"""

import json

import pytest

from selfeng.core.events import Event, SynthesisStep, TurnFailed, TurnFinished
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecExample, SpecificationReply, SpecParameter
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import CODE, ListedLibrary, ScriptedModel, fenced, handled, specification, tool
from tests.engine.honest_sandbox import HonestSandbox

IMPORT = "from double_number import double_number\n\n\n"
FOUR = "def test_four():\n    assert double_number(number=4) == 8\n"
ZERO = "def test_zero():\n    assert double_number(number=0) == 0\n"
BELOW = "def test_below():\n    assert double_number(number=-3) == -6\n"
LIE = "def test_lie():\n    assert double_number(number=5) == 11\n"
SUITE = f"{IMPORT}{FOUR}\n\n{ZERO}\n\n{BELOW}"
PLUS = "def double_number(number: int) -> int:\n    return number + number\n"
SUM = "def double_number(number: int) -> int:\n    return sum([number, number])\n"
NEAR = (
    "def double_number(number: int) -> int:\n    return 2 * abs(number) if number < -50 else 2 "
    "* number\n"
)
WRONG = "def double_number(number: int) -> int:\n    return number\n"
CALL = FunctionCall(name="double_number", arguments={"number": 4})


def specified(**changes) -> SpecificationReply:
    return SpecificationReply(
        outcome="tool", message="", specification=specification().model_copy(update=changes)
    )


def example(call: str, result: str) -> SpecExample:
    return SpecExample(call=f"double_number(number={call})", result=result)


class Turn:
    """One request, and what became of it."""

    request = "double 4, so that 4 gives 8 or 9 and 5 gives 11"

    def __init__(
        self, *replies, library: ListedLibrary | None = None, candidates: int = 3, **policy
    ) -> None:
        self.model, sandbox, self.library = (
            ScriptedModel(*replies),
            HonestSandbox(),
            library or ListedLibrary(),
        )
        policy = SynthesisPolicy(candidates=candidates, **policy)
        synthesis = SynthesisEngine(self.model, sandbox, self.library, "scripted", policy)
        executor = Executor(self.model, sandbox, self.library)
        self._orchestrator = Orchestrator(
            self.library, executor, synthesis, ResponseSynthesizer(self.model)
        )
        self.events: list[Event] = []

    async def run(self) -> TurnFinished | TurnFailed:
        return await handled(self._orchestrator, self.request, self.events.append)

    def last(self, step: str) -> SynthesisStep:
        return [e for e in self.events if isinstance(e, SynthesisStep) and e.step == step][-1]

    def steps(self) -> list[tuple[str, str]]:
        ended = ("finished", "failed")
        return [
            (e.step, e.state)
            for e in self.events
            if isinstance(e, SynthesisStep) and e.state in ended
        ]


async def test_a_wrong_test_is_filtered_by_consensus():
    suite = f"{SUITE}\n\n{LIE}"
    turn = Turn(
        specified(), fenced(suite), fenced(CODE), fenced(PLUS), fenced(SUM), CALL, "It is 8."
    )
    assert (await turn.run()).answer == "It is 8."
    built = await turn.library.get("double_number")
    assert ("test_lie" in built.tests, "test_below" in built.tests) == (False, True)
    told = json.loads(turn.last("compare").artifact)
    assert [(d["test"], d["against"], d["of"]) for d in told["dropped"]] == [("test_lie", 3, 3)]
    assert turn.last("compare").text.endswith("dropped, as most candidates refute them: test_lie.")


async def test_a_candidate_that_passes_and_differs_from_most_is_not_taken():
    suite = SUITE.replace("-3) == -6", "-30) == -60")
    turn = Turn(
        specified(), fenced(suite), fenced(NEAR), fenced(PLUS), fenced(SUM), CALL, "It is 8."
    )
    await turn.run()
    assert (await turn.library.get("double_number")).code == PLUS


async def test_two_candidates_that_differ_are_told_apart_by_one_more_test():
    deciding = (
        "from double_number import double_number\n\n\ndef test_far():\n    assert "
        "double_number(number=-60) == -120\n"
    )
    suite = SUITE.replace("-3) == -6", "-30) == -60")
    turn = Turn(
        specified(),
        fenced(suite),
        fenced(NEAR),
        fenced(PLUS),
        fenced(deciding),
        CALL,
        "It is 8.",
        candidates=2,
    )
    await turn.run()
    built = await turn.library.get("double_number")
    assert (built.code, "test_far" in built.tests) == (PLUS, True)
    assert [name for name, _ in turn.steps()][2:6] == ["implement", "compare", "test", "compare"]


async def test_a_tie_that_the_specification_leaves_open_takes_the_first():
    suite = SUITE.replace("-3) == -6", "-30) == -60")
    turn = Turn(
        specified(),
        fenced(suite),
        fenced(NEAR),
        fenced(PLUS),
        "undecided",
        CALL,
        "It is 8.",
        candidates=2,
        mutation_score=0,
    )
    await turn.run()
    assert (await turn.library.get("double_number")).code == NEAR
    assert (turn.last("test").state, turn.last("test").text[:26]) == (
        "finished",
        "The suite stays as it is: ",
    ), "nobody has failed"


async def test_where_too_few_tests_are_left_new_ones_are_written():
    lies = "".join(
        f"\n\ndef test_lie_{n}():\n    assert double_number(number={n}) == {2 * n + 1}\n"
        for n in (5, 6, 7)
    )
    turn = Turn(
        specified(), fenced(IMPORT + FOUR + lies), fenced(CODE), fenced(PLUS), fenced(SUM), fenced(SUITE), CALL, "It is 8."
    )  # fmt: skip
    await turn.run()
    assert "test_below" in (await turn.library.get("double_number")).tests
    assert (
        "refute these tests, so only 1 test would be left: test_lie_5"
        in turn.model.prompts[5].messages[-1].content
    )


async def test_a_small_suite_that_nobody_refutes_is_not_written_again():
    turn = Turn(
        specified(),
        fenced(f"{IMPORT}{FOUR}\n\n{BELOW}"),
        fenced(CODE),
        fenced(PLUS),
        fenced(SUM),
        CALL,
        "It is 8.",
    )
    assert (await turn.run()).answer == "It is 8."
    assert [name for name, _ in turn.steps()].count("test") == 1


async def test_the_persons_examples_are_tests_that_nothing_overrules():
    spec = specified(user_examples=(example("5", "11"),))
    right = "def double_number(number: int) -> int:\n    return 2 * number + (number == 5)\n"
    turn = Turn(
        spec,
        fenced(SUITE),
        fenced(CODE),
        fenced(PLUS),
        fenced(SUM),
        fenced(right),
        CALL,
        "It is 8.",
    )
    await turn.run()
    built = await turn.library.get("double_number")
    assert "def test_user_example_1():\n    assert double_number(number=5) == 11" in built.tests
    assert built.code == right
    assert "test_user_example_1" in turn.model.prompts[5].messages[-1].content, (
        "the repair is shown what the person wants"
    )


async def test_an_example_that_nobody_gave_is_none_of_the_persons():
    turn = Turn(
        specified(user_examples=(example("6", "13"),)),
        fenced(SUITE),
        fenced(CODE),
        CALL,
        "It is 8.",
        candidates=1,
    )
    await turn.run()
    assert "test_user_example" not in (await turn.library.get("double_number")).tests


async def test_examples_of_the_person_that_contradict_each_other_are_reported():
    turn = Turn(specified(user_examples=(example("4", "8"), example("4", "9"))))
    last = await turn.run()
    assert isinstance(last, TurnFinished)
    assert last.answer.startswith(
        "Your examples can't all be right: `double_number(number=4)` gives "
    )
    assert last.answer.endswith("Which one do you mean?")
    assert turn.steps() == [("specify", "failed")]


async def test_a_suite_that_contradicts_the_persons_examples_is_written_again():
    spec = specified(user_examples=(example("4", "9"),))
    code = "def double_number(number: int) -> int:\n    return 9 if number == 4 else 2 * number\n"
    turn = Turn(
        spec,
        fenced(SUITE),
        fenced(f"{IMPORT}{ZERO}\n\n{BELOW}"),
        fenced(code),
        CALL,
        "It is 9.",
        candidates=1,
    )
    await turn.run()
    assert turn.steps()[:3] == [("specify", "finished"), ("test", "failed"), ("test", "finished")]
    assert (
        "a test says that `double_number(number=4)` is 8, but an example of the person says 9"
        in turn.model.prompts[2].messages[-1].content
    )


async def test_a_specification_that_nothing_fulfils_is_reopened_for_all_to_see():
    wrong_suite = f"{IMPORT}{FOUR}\n\n{LIE}"
    again = specified(description="Double a whole number.")
    turn = Turn(
        specified(), fenced(wrong_suite), fenced(CODE), fenced(PLUS), again, fenced(SUITE), fenced(CODE), CALL, "It is 8.",
        candidates=1, max_repairs=1,
    )  # fmt: skip
    await turn.run()
    assert [s for s in turn.steps() if s[0] in ("specify", "verify")] == [
        ("specify", "finished"), ("verify", "failed"), ("verify", "failed"),
        ("specify", "finished"), ("verify", "finished"),
    ]  # fmt: skip
    assert (
        "it can't be fulfilled as written: no implementation passed the tests"
        in turn.model.prompts[4].messages[-1].content
    )
    assert (await turn.library.get("double_number")).description == "Double a whole number."


async def test_a_weak_suite_gets_further_tests_once():
    weak = f"{IMPORT}{FOUR}"
    more = f"{IMPORT}{ZERO}\n\n{BELOW}"
    code = "def double_number(number: int) -> int:\n    return number * 2 - 0 * 3 + 0 * 7\n"
    turn = Turn(
        specified(),
        fenced(weak),
        fenced(code),
        fenced(more),
        CALL,
        "It is 8.",
        candidates=1,
        mutation_score=0.9,
    )
    await turn.run()
    built = await turn.library.get("double_number")
    assert (
        "test_zero" in built.tests,
        "test_four" in built.tests,
        "test_below" in built.tests,
    ) == (True, True, True)
    assert "became" in turn.model.prompts[3].messages[-1].content


TWICE = "from twice import twice\n\n\ndef test_twice():\n    assert twice(value=21) == 42\n"


@pytest.mark.parametrize(
    ("tests", "used"),
    [
        (TWICE, "twice"),
        (TWICE + "\n\ndef test_far():\n    assert twice(value=10**6) == 0\n", "double_number"),
    ],
    ids=["the same", "more than that"],
)
async def test_a_tool_that_does_the_same_under_another_name_is_used(tests, used):
    code = "def twice(value: int) -> int:\n    return value + value if value < 10**6 else 0\n"
    library = ListedLibrary(
        tool("triple", "def triple(value: int) -> int:\n    return value * 3\n"),
        tool("twice", code),
    )
    library._tools["twice"] = library._tools["twice"].model_copy(update={"tests": tests})
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it is called otherwise"})
    call = FunctionCall(name=used, arguments={"number" if used == "double_number" else "value": 4})
    turn = Turn(
        none,
        specified(),
        fenced(SUITE),
        fenced(CODE),
        call,
        "It is 8.",
        library=library,
        candidates=1,
    )
    assert (await turn.run()).tool == used
    assert ("double_number" in [t.name for t in await library.tools()]) is (used == "double_number")


async def test_a_tool_that_does_the_same_and_was_added_meanwhile_is_used():
    code = "def twice(value: int) -> int:\n    return value + value\n"
    twice = tool("twice", code).model_copy(update={"tests": TWICE})

    class Meanwhile(ListedLibrary):
        async def prepare(self, draft, requests=()):  # once the tools near by were compared
            self._tools["twice"] = twice

    call = FunctionCall(name="twice", arguments={"value": 4})
    replies = specified(), fenced(SUITE), fenced(CODE), call, "It is 8."
    turn = Turn(*replies, library=Meanwhile(), candidates=1)
    assert (await turn.run()).tool == "twice"
    assert await turn.library.tools() == (twice,)


@pytest.mark.parametrize(
    ("code", "taken"),
    [("def double_number(number: int) -> int:\n    return 22 * number\n", True), (CODE, False)],
    ids=["another meaning", "the same meaning"],
)
async def test_a_name_is_another_tools_only_where_it_means_something_else(code, taken):
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "unsure"})
    examples = (example("4", "8"), example("0", "0"), example("-1", "-2"))
    renamed = [fenced(text.replace("double_number", "double_it")) for text in (SUITE, PLUS)]
    other = specified(
        name="double_it", examples=(SpecExample(call="double_it(number=4)", result="8"),)
    )
    call = FunctionCall(name="double_it" if taken else "double_number", arguments={"number": 4})
    script = [
        none,
        specified(examples=examples),
        *([other, *renamed] if taken else []),
        call,
        "It is 8.",
    ]
    turn = Turn(*script, library=ListedLibrary(tool("double_number", code)), candidates=1)
    assert (await turn.run()).tool == call.name
    assert sorted(t.name for t in await turn.library.tools()) == (
        ["double_it", "double_number"] if taken else ["double_number"]
    )


async def test_a_further_parameter_makes_the_next_version_and_the_old_tests_still_run():
    known = tool("double_number", CODE).model_copy(
        update={"tests": f"{IMPORT}def test_old():\n    assert double_number(number=7) == 14\n"}
    )
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it can't add"})
    plus = SpecParameter(name="plus", annotation="int", default="0", description="is added")
    wider = "def double_number(number: int, plus: int = 0) -> int:\n    return 2 * number + plus\n"
    spec = specified(parameters=(*specification().parameters, plus))
    suite = (
        f"{IMPORT}def test_plus():\n    assert double_number(number=4, plus=1) == "
        f"9\n\n\n{ZERO}\n\n{BELOW}"
    )
    turn = Turn(
        none,
        spec,
        fenced(suite),
        fenced(wider),
        CALL,
        "It is 8.",
        library=ListedLibrary(known),
        candidates=1,
    )
    await turn.run()
    built = await turn.library.get("double_number")
    assert (built.version, built.code, "test_old" in built.tests, "test_plus" in built.tests) == (
        2,
        wider,
        True,
        True,
    )
    assert turn.last("register").text == "double_number is in the library, as version 2."


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        (f"import sys\n{IMPORT}sys.modules['double_number'] = None\n\n\n{FOUR}", "sys"),
        (f"import pytest\n{IMPORT}@pytest.mark.skip\n{FOUR}", "skip"),
    ],
    ids=["patches", "skips"],
)
async def test_a_hostile_suite_is_refused_with_the_reason_and_written_again(suite, reason):
    turn = Turn(
        specified(), fenced(suite), fenced(SUITE), fenced(CODE), CALL, "It is 8.", candidates=1
    )
    await turn.run()
    refused = next(
        e
        for e in turn.events
        if isinstance(e, SynthesisStep) and e.step == "test" and e.state == "failed"
    )
    assert refused.text.startswith("Refused: ")
    assert reason in refused.text
    assert (await turn.library.get("double_number")).tests == SUITE


async def test_a_repair_is_told_what_the_last_one_changed():
    worse = "def double_number(number: int) -> int:\n    return number + 1\n"
    turn = Turn(
        specified(),
        fenced(SUITE),
        fenced(WRONG),
        fenced(worse),
        fenced(CODE),
        CALL,
        "It is 8.",
        candidates=1,
    )
    await turn.run()
    first, second = (prompt.messages[-1].content for prompt in turn.model.prompts[3:5])
    assert "<changes>" not in first
    assert "-    return number\n+    return number + 1\n" in second


PLUS_PARAMETER = SpecParameter(name="plus", annotation="int", default="0", description="is added")
NO_FIT = FunctionCall(name="no_tool_fits", arguments={"reason": "it can't add"})
WIDER = "def double_number(number: int, plus: int = 0) -> int:\n    return 2 * number + plus\n"
WIDER_SUITE = (
    f"{IMPORT}def test_plus():\n    assert double_number(number=4, plus=1) == "
    f"9\n\n\n{ZERO}\n\n{BELOW}"
)


def extending(tests: str, *replies: str, code: str = CODE, **policy) -> Turn:
    """A turn that wants a further parameter of `double_number`, which has these tests."""
    known = tool("double_number", code).model_copy(update={"tests": IMPORT + tests})
    spec = specified(parameters=(*specification().parameters, PLUS_PARAMETER))
    return Turn(
        NO_FIT,
        spec,
        *map(fenced, replies),
        CALL,
        "It is 8.",
        library=ListedLibrary(known),
        **policy,
    )


async def test_a_revision_is_written_with_the_tool_in_view():
    old = "def test_old():\n    assert double_number(number=7) == 14\n"
    code = "def double_number(number: int) -> int:\n    # as the office wants it\n    return 2 * number\n"
    wrong = WIDER.replace("+ plus", "- plus")
    turn = extending(old, WIDER_SUITE, wrong, WIDER, code=code, candidates=1, mutation_score=0)
    await turn.run()
    asked = {prompt.name: prompt.messages[-1].content for prompt in turn.model.prompts}
    for name in ("specification", "implementation", "repair"):
        assert "Add numbers." in asked[name]
        assert "# as the office wants it" in asked[name]
    for name in ("implementation", "repair"):
        assert "def test_old" in asked[name]
    assert (await turn.library.get("double_number")).version == 2


@pytest.mark.parametrize(("confidence", "viewed"), [(0.8, True), (0.02, False)])
async def test_docstrings_and_tests_are_shown_only_of_tools_that_the_request_may_mean(
    confidence, viewed
):
    code = 'def {0}():\n    """Add.\n\n    Raises:\n        ValueError: {0}.\n    """\n' + "#" * 200
    abc = (tool(name, code.format(name)) for name in "abc")
    library = ListedLibrary(*abc, confidence=confidence)
    spec = [NO_FIT] * viewed + [specified()]
    turn = Turn(*spec, fenced(SUITE), fenced(CODE), CALL, "It is 8.", library=library, candidates=1)
    await turn.run()
    asked = next(p for p in turn.model.prompts if p.name == "specification").messages[-1].content
    shown = [name for name in "abc" if f"\n  Raises: ValueError: {name}." in asked]
    assert shown == (["a", "b"] if viewed else [])
    listed = [name for name in "abc" if f"{name}() -> Any: Add numbers." in asked]
    assert listed == (["a", "b", "c"] if viewed else [])


async def test_a_tool_whose_name_was_refused_is_shown_with_its_sources():
    other = tool("double_number", "def double_number(text: str) -> str: return text * 2\n")
    library = ListedLibrary(other, confidence=0.02)
    turn = Turn(specified(), specified(), specified(), library=library)
    await turn.run()
    first, second, _ = [
        p.messages[-1].content for p in turn.model.prompts if p.name == "specification"
    ]
    assert ("return text * 2" in first, "return text * 2" in second) == (False, True)


async def test_a_test_that_no_code_can_pass_is_named_and_the_suite_written_again():
    helper = "def test_helper():\n    assert double_number(number=given(4)) == 8\n"
    constant = (
        "WANTED = {}\n\n\ndef test_constant():\n    assert double_number(number=WANTED[4]) == 8\n"
    )
    turn = Turn(
        specified(),
        fenced(f"{SUITE}\n\n{helper}\n\n{constant}"),
        fenced(SUITE),
        fenced(CODE),
        CALL,
        "It is 8.",
        candidates=1,
    )
    await turn.run()
    refusal = turn.model.prompts[2].messages[-1].content
    assert "no code can pass these tests" in refusal
    assert "test_helper (NameError: name 'given' is not defined)" in refusal
    assert "test_constant (KeyError: 4)" in refusal
    assert "test_four" not in refusal.partition("<problem>")[2]
    assert (await turn.library.get("double_number")).tests == SUITE


BROKEN = {
    "a tool that never passed it": (
        "def test_old():\n    assert double_number(number=7) == 15\n",
        CODE,
    ),
    "a helper that is gone": (
        "def test_old():\n    assert double_number(number=7) == helper(7)\n",
        CODE,
    ),
    "an error that changed": (
        "import pytest\n\n\ndef test_old():\n    with pytest.raises(ValueError):\n        "
        "double_number(number=None)\n",
        CODE,
    ),
}


@pytest.mark.parametrize("how", BROKEN)
async def test_a_test_of_an_earlier_version_that_can_not_pass_ends_the_revision(how):
    tests, code = BROKEN[how]
    turn = extending(tests, code=code)
    failed = await turn.run()
    assert isinstance(failed, TurnFailed)
    assert failed.message.startswith(
        "double_number stays at version 1, whose tests hold for every later one: test_old fails ("
    )
    assert (
        "correct it in test_double_number.py and run `selfeng verify double_number`"
        in failed.remedy
    )
    assert (await turn.library.get("double_number")).version == 1


BREAKING = {
    "all of them alike": [WIDER.replace("2 * number", "3 * number")] * 3,
    "each in its way": [WIDER.replace("2 * number", f"{n} * number") for n in (3, 4, 5)],
    "two with a witness": [WIDER, *[WIDER.replace("2 * number", f"{n} * number") for n in (3, 4)]],
}


@pytest.mark.parametrize("how", BREAKING)
async def test_a_test_of_an_earlier_version_is_voted_out_by_nobody(how):
    old = "def test_old():\n    assert double_number(number=7) == 14\n"
    suite = f"{IMPORT}def test_plus():\n    assert double_number(number=0, plus=1) == 1\n\n\n{ZERO}"
    codes = BREAKING[how]
    turn = extending(old, suite, *codes, max_repairs=0, mutation_score=0)
    ended = await turn.run()
    if how == "two with a witness":
        assert isinstance(ended, TurnFinished)
        assert "test_old" in (await turn.library.get("double_number")).tests
    else:
        assert isinstance(ended, TurnFailed)
        assert ended.message.endswith("of version 1: test_old")
        assert ended.message.startswith("double_number stays at version 1")


async def test_a_revision_returns_what_the_version_before_returned():
    old = "def test_old():\n    assert double_number(number=7) == 14\n"
    narrow = WIDER.replace("return 2", "if number < -50:\n        return 0\n    return 2").replace(
        "-50", "-4"
    )
    turn = extending(
        old,
        WIDER_SUITE.replace("-3) == -6", "-1) == -2"),
        narrow,
        WIDER,
        candidates=1,
        mutation_score=0,
    )
    await turn.run()
    assert (await turn.library.get("double_number")).code == WIDER
    assert "version 1 returns" in turn.model.prompts[4].messages[-1].content


async def test_a_suite_that_would_pass_on_a_stub_without_its_refuted_tests_is_written_again():
    lie = "def test_lie():\n    assert double_number(number=5) == 11\n"
    zeros = "\n\n".join(
        f"def test_zero_{n}():\n    assert double_number(number={n} - {n}) == 0\n"
        for n in (1, 2, 3)
    )
    turn = Turn(
        specified(), fenced(f"{IMPORT}{zeros}\n\n{lie}"), fenced(CODE), fenced(PLUS), fenced(SUM), fenced(SUITE), CALL, "It is 8."
    )  # fmt: skip
    await turn.run()
    assert (
        "without the tests that most of the independent implementations refute, the suite passes "
        "on a function that" in (turn.model.prompts[5].messages[-1].content)
    )
    assert "test_below" in (await turn.library.get("double_number")).tests
