"""The inputs on which candidates are compared."""

from hashlib import sha256

import pytest

from selfeng.core.signature import parse_signature
from selfeng.core.spec import SpecExample, SpecificationReply
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import SandboxJob
from selfeng.synthesis.consensus import boundaries, is_unusual
from selfeng.synthesis.examples import contradiction, example_problem, example_tests, stated
from selfeng.synthesis.inputs import calls_in, kinds_of, mutations
from selfeng.synthesis.probe import CallOutcome, probe, same
from selfeng.synthesis.relatives import likeness
from selfeng.synthesis.specifying import Analyst, BuildSpec, KnownTool
from selfeng.synthesis.steps import Steps, SynthesisPolicy
from tests.doubles import ListedLibrary, ScriptedModel, specification, tool
from tests.engine.honest_sandbox import HonestSandbox

SIGNATURE = parse_signature("def f(a: int, b: str = 'x') -> int:\n    return a\n", "f")


def test_calls_with_literal_arguments_are_found_once_by_name():
    source = (
        "assert f(1, b='y') == 2\nassert f(a=1, b='y') == 2\nassert f(-2) == g(f([1, {'k': "
        "None}]))\nassert f(x)\nassert f(*[1])\n"
    )
    assert calls_in(source, SIGNATURE) == [{"a": 1, "b": "y"}, {"a": -2}, {"a": [1, {"k": None}]}]
    assert calls_in("def broken(", SIGNATURE) == []


@pytest.mark.parametrize(
    ("values", "keeps"),
    [
        ([1, 5, 100], lambda v: v >= 0),
        ([[1, 2, 3], [4, 5, 9]], lambda v: v == sorted(v) and v),
        ([["b", "a"], ["c"]], lambda v: v and set("".join(v)) <= set("abc")),
        (["2020-01-05"], lambda v: v and set(v) <= set("0123456789-")),
        ([0.5, 2.0], lambda v: v >= 0),
        ([{"a": 1}], lambda v: set(v) == {"a"}),
        ([(1, 2)], lambda v: isinstance(v, tuple) and v),
        ([True], lambda v: v is False),
        ([None], lambda v: False),
    ],
)
def test_mutations_keep_to_what_the_calls_show(values, keeps):
    calls = [{"value": value} for value in values]
    found = mutations(calls, 100)
    assert found == mutations(calls, 100)
    assert all(keeps(one["value"]) for one in found)
    assert not [
        one for one in found if one in calls and type(one["value"]) is type(calls[0]["value"])
    ]
    assert len({repr(one) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("values", "tried", "never"),
    [
        ([5, 7], [0, 1, 1000, 14, 70], [-1]),
        ([-5], [-1, 0], []),
        ([0.5], [0.0, 1.0, 99.99], [-0.5]),
        (["ba"], ["", "a", "bb", "ab", "ba" * 16, ("ba" * 51)[:101]], ["c", " "]),
        ([[2, 4]], [[], [2], [4, 2], [2, 4] * 16], [[-1]]),
        ([[1, 2, 3]], [[], [1], [2, 3]], [[1, 0], [1, 2, 3, 0], [3, 2, 1]]),
        ([(1, 2)], [(), (1,), (2, 1)], []),
        ([{"a": 1}], [{}, {"a": 0}], [{"b": 1}]),
        ([{1}], [set()], []),
        ([True], [False], []),
        ([None], [], [0]),
    ],
)
def test_boundary_values_are_the_ends_of_the_types_within_what_the_calls_show(values, tried, never):
    found = [one["value"] for one in boundaries([{"value": value} for value in values])]
    assert [value for value in tried if value not in found] == []
    assert [value for value in never if value in found] == []


def test_the_least_boundary_values_meet_in_one_input():
    found = boundaries([{"text": "ba", "number": 5}])
    assert {"text": "", "number": 0} in found
    assert {"text": "ab", "number": 1} in found
    assert found == boundaries([{"text": "ba", "number": 5}])


@pytest.mark.parametrize(
    ("value", "seen", "unusual"),
    [
        (0, [1], True),
        (0, [0, 1], False),
        ([1, 0.0], [[1]], True),
        ([], [[1]], True),
        ("", ["", "a"], False),
        ("", ["a"], True),
        (False, [True], False),
        (-1, [1], False),
    ],
)
def test_inputs_are_unusual_that_hold_a_zero_or_are_empty_as_no_call_is(value, seen, unusual):
    assert is_unusual({"value": value}, kinds_of([{"value": one} for one in seen])) is unusual


async def test_a_probe_tells_values_errors_and_what_never_ends():
    code = (
        "def f(n):\n    while n == 0: pass\n    try:\n        while n == 2: pass\n    except:\n"
        "        while True: pass\n    if n < 0: raise KeyError(n)\n    return 'x' * "
        "n if n > 9 else {n: [float(n)]}\n"
    )
    inputs = [{"n": 1}, {"n": -1}, {"n": 0}, {"n": 2}, {"n": 10_000}]
    outcomes = await probe(HonestSandbox(), SandboxJob("f", code), inputs)
    assert [(o.kind, o.text) for o in outcomes] == [
        ("returned", "{1: [1.0]}"),
        ("raised", "KeyError"),
        ("slow", ""),
        ("slow", ""),
        ("large", sha256(repr("x" * 10_000).encode()).hexdigest()),
    ]
    assert await probe(HonestSandbox(), SandboxJob("f", "raise ValueError"), [{"n": 1}]) is None


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("0.1", "0.10000000001", True),
        ("[1, {'a': 2.0}]", "[1.0, {'a': 2}]", True),
        ("(1, 2)", "[1, 2]", False),
        ("inf", "inf", True),
        ("nan", "inf", False),
        ("'1'", "1", False),
    ],
)
def test_values_are_the_same_where_they_are_equal_and_floats_nearly(one, other, equal):
    assert (
        same(CallOutcome(kind="returned", text=one), CallOutcome(kind="returned", text=other))
        is equal
    )


def with_examples(*pairs, own=()):
    examples = tuple(SpecExample(call=call, result=result) for call, result in pairs)
    mine = tuple(SpecExample(call=call, result=result) for call, result in own)
    return specification().model_copy(update={"examples": examples, "user_examples": mine})


RAISING = "def twice(x: int) -> int:\n    if x < 0: raise ValueError\n    return 2 * x\n"
EXAMPLES = (
    ("double_number(number=4)", "8"),
    ("double_number(number=0)", "0"),
    ("double_number(number=-1)", "-2"),
)


@pytest.mark.parametrize(
    ("code", "pairs", "expected"),
    [
        ("def twice(x: int) -> int:\n    return x + x\n", EXAMPLES, "same"),
        ("def twice(x: int, times: int = 2) -> int:\n    return x * times\n", EXAMPLES, "same"),
        ("def halve(x: int) -> int:\n    return x // 2\n", EXAMPLES, "other"),
        ("def twice(x: str) -> int:\n    return 2 * x\n", EXAMPLES, "other"),
        ("def twice(x: int, times: int) -> int:\n    return x * times\n", EXAMPLES, "other"),
        ("def twice(x: int) -> int:\n    return x + x\n", EXAMPLES[:1], "unknown"),
        (RAISING, (*EXAMPLES[:2], ("double_number(number=-1)", "raises ValueError")), "same"),
    ],
    ids=["other words", "more parameters", "opposite", "other kind", "needs more", "too little told", "errors"],
)  # fmt: skip
async def test_a_tool_is_the_same_when_it_fulfils_the_examples(code, pairs, expected):
    assert (
        await likeness(
            HonestSandbox(), tool(code.split()[1].split("(")[0], code), with_examples(*pairs)
        )
        == expected
    )


class Specifying:
    """An analyst beside a library, with a scripted model."""

    def __init__(self, *replies, library):
        self.model, self.events, self._library = ScriptedModel(*replies), [], library

    async def specify(self, near=()):
        turn = Turn(Request("double 4"), self.events.append)
        analyst = Analyst(self.model, HonestSandbox(), self._library, SynthesisPolicy())
        return await analyst.specify(Steps(turn), near)

    @property
    def states(self):
        return [event.state for event in self.events]


def doubling():
    spec = with_examples(*EXAMPLES)
    call = "double_number(number=4)"
    return SpecificationReply(outcome="tool", message="", specification=spec, call=call)


async def test_a_tool_of_another_name_that_fulfils_the_examples_is_used():
    twice = tool("twice", "def twice(x: int) -> int:\n    return x + x\n")
    analyst = Specifying(doubling(), library=ListedLibrary(tool(), twice))
    assert await analyst.specify() == KnownTool(tool=twice, arguments={"x": 4})
    assert len(analyst.model.prompts) == 1


async def test_a_likely_tool_that_the_model_has_not_seen_is_shown_to_it_once():
    halve = tool("halve", "def halve(x: int) -> int:\n    return x // 2\n")
    analyst = Specifying(doubling(), doubling(), library=ListedLibrary(halve, tool()))
    assert isinstance(await analyst.specify(("add_numbers",)), BuildSpec)
    first, second = (prompt.messages[-1].content for prompt in analyst.model.prompts)
    assert ("x // 2" in first, "x // 2" in second) == (False, True)
    assert analyst.states == ["started", "finished"] * 2


def test_examples_of_the_person_become_tests():
    spec = with_examples(
        own=[
            ("double_number(number=4)", "8"),
            ("double_number( number=1 )", "[0.5]"),
            ("double_number(number='a')", "raises TypeError"),
        ]
    )
    assert example_tests(spec.name, spec.user_examples) == (
        "import pytest\n\nfrom double_number import double_number\n\n\n"
        "def test_user_example_1():\n    assert double_number(number=4) == 8\n\n\n"
        "def test_user_example_2():\n    assert double_number(number=1) == "
        "pytest.approx([0.5])\n\n\n"
        "def test_user_example_3():\n    with pytest.raises(TypeError):\n        "
        "double_number(number='a')\n"
    )
    assert example_tests(spec.name, ()) == ""
    assert contradiction(spec) == {}


@pytest.mark.parametrize(
    ("call", "result", "problem"),
    [
        ("double_number(number=n)", "8", "is no call of double_number with literal arguments"),
        ("triple(number=4)", "8", "is no call of double_number with literal arguments"),
        ("double_number(number=4)", "eight", "is neither a Python literal nor `raises SomeError`"),
        ("double_number(number=4)", "8", None),
    ],
)
def test_examples_that_are_no_tests_are_named(call, result, problem):
    found = example_problem(SpecExample(call=call, result=result), specification().signature())
    assert (found is None) if problem is None else (problem in found)


@pytest.mark.parametrize(
    ("call", "result", "said", "is_stated"),
    [
        ("f(n=3)", "7", "f(3) should give 7", True),
        ("f(n=3)", "7", "f(3) should give 8", False),
        ("f(n=-1500)", "2.0", "-1,500 makes 2", True),
        ("f(text='Ab c', upper=True)", "'AB C'", "turn 'ab c' into 'AB C'", True),
        ("f(text='')", "raises ValueError", "an empty text raises ValueError", True),
        ("f(text='x')", "'y'", "nothing", False),
        ("f(", "1", "f( 1", False),
    ],
)
def test_an_example_is_the_persons_where_its_values_were_said(call, result, said, is_stated):
    assert stated(SpecExample(call=call, result=result), said) is is_stated


def test_examples_that_contradict_each_other_are_told():
    spec = with_examples(own=[("double_number(number=4)", "8"), ("double_number(number=4)", "9")])
    assert contradiction(spec) == {
        "call": "double_number(number=4)",
        "first": "8",
        "second": "9",
    }
