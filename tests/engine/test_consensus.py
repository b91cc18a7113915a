"""Candidates' verdicts on a suite and on each other."""

from collections.abc import Sequence

import pytest

from selfeng.core.signature import parse_signature
from selfeng.core.verdict import Replay, SandboxJob, Verdict, Version
from selfeng.synthesis.consensus import Consensus, Dropped, agree, distinct, kept_witnesses
from selfeng.synthesis.inputs import Arguments
from selfeng.synthesis.mutants import mutants, strength
from tests.engine.honest_sandbox import HonestSandbox

HEAD = "def triple(number: int) -> int:\n"
RIGHT = f"{HEAD}    return 3 * number\n"
ALSO_RIGHT = f"{HEAD}    return number + number + number\n"
THIRD = f"{HEAD}    return sum([number] * 3)\n"
NEAR = f"{HEAD}    return 3 * abs(number)\n"
NEAR_TOO = f"{HEAD}    return abs(3 * number)\n"
RAISING = f"{HEAD}    if number < 0: raise ValueError(number)\n    return 3 * number\n"
RAISING_TOO = f"{HEAD}    return 3 * number if number >= 0 else [][number]\n"
AT_ZERO = f"{HEAD}    return 3 * number or 1\n"
AT_ZERO_TOO = f"{HEAD}    return 3 * number if number else 1\n"
WRONG = f"{HEAD}    return number\n"
WRONG_TOO = f"{HEAD}    return -number\n"
STUCK = f"{HEAD}    while True: pass\n"
SIGNATURE = parse_signature(RIGHT, "triple")
IMPORT = "from triple import triple\n\n\n"
ONE = "def test_one():\n    assert triple(number=1) == 3\n"
TWO = "def test_two():\n    assert triple(number=2) == 6\n"
BELOW = "def test_below():\n    assert triple(number=-2) == -6\n"
LIE = "def test_lie():\n    assert triple(number=5) == 16\n"
SAYING = "def test_saying():\n    assert triple(number=1) == 3, triple(number=1)\n"
MINUS_THREE = {"number": -3}


class Patient(HonestSandbox):
    """One in which a suite of code that is stuck ends, before its first test."""

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], *rest
    ) -> tuple[Verdict, ...]:
        ran = iter(
            await super().verify_versions(job, [v for v in versions if v.code != STUCK], *rest)
        )
        return tuple(
            Verdict(passed=False, problem="it took too long") if v.code == STUCK else next(ran)
            for v in versions
        )


async def asked(codes: list[str], *tests: str, examples: Sequence[Arguments] = ()) -> Consensus:
    return await agree(Patient(), SIGNATURE, distinct(codes), IMPORT + "\n\n".join(tests), examples)


async def test_a_test_that_most_candidates_refute_is_dropped_with_the_reason():
    agreed = await asked([RIGHT, ALSO_RIGHT, THIRD], ONE, LIE)
    (dropped,) = agreed.dropped
    assert (dropped.test, dropped.against, dropped.of) == ("test_lie", 3, 3)
    assert dropped.message.startswith("AssertionError")
    assert "test_lie" not in agreed.tests
    assert "test_one" in agreed.tests
    assert agreed.winner.code == RIGHT
    assert agreed.summary().endswith("dropped, as most candidates refute them: test_lie.")


@pytest.mark.parametrize(
    ("codes", "against", "of"),
    [
        ([WRONG, WRONG_TOO, RIGHT], 2, 3),
        ([WRONG, WRONG, WRONG_TOO, RIGHT, ALSO_RIGHT], 3, 5),
        ([WRONG, WRONG_TOO, RIGHT, STUCK], 2, 3),
    ],
    ids=["more than half", "each as often as it was drawn", "of those in which the test ran"],
)
async def test_a_test_goes_when_more_than_half_of_the_votes_are_against_it(
    codes: list[str], against: int, of: int
):
    agreed = await asked(codes, SAYING)
    assert agreed.dropped == (
        Dropped(test="test_saying", against=against, of=of, message="AssertionError: 1"),
    )
    assert agreed.kept == 0


@pytest.mark.parametrize(
    "codes",
    [
        [WRONG, WRONG_TOO, RIGHT, ALSO_RIGHT],
        [WRONG, WRONG_TOO, RIGHT, RIGHT],
        [WRONG, WRONG_TOO, RIGHT, RIGHT, RIGHT],
    ],
    ids=["a tie", "a tie of one drawn twice", "fewer draws, though more codes"],
)
async def test_a_test_stays_when_no_more_than_half_of_the_votes_are_against_it(codes: list[str]):
    agreed = await asked(codes, SAYING)
    assert (agreed.dropped, agreed.kept, agreed.winner.code) == ((), 1, RIGHT)
    assert [r.failed for r in agreed.reports[:2]] == [("test_saying",)] * 2


async def test_the_persons_own_examples_are_never_dropped():
    own = LIE.replace("test_lie", "test_user_example_1")
    agreed = await asked([WRONG, RIGHT, ALSO_RIGHT], ONE, own)
    assert (agreed.dropped, agreed.winner) == ((), None)
    assert (agreed.nearest.code, agreed.nearest.passed) == (RIGHT, 1)


async def test_candidates_that_say_the_same_are_one_witness():
    agreed = await asked([WRONG, WRONG, WRONG], ONE, TWO)
    assert (agreed.dropped, agreed.winner) == ((), None)
    assert [r.draws for r in agreed.reports] == [3]


async def test_one_wrong_candidate_refutes_no_test():
    agreed = await asked([WRONG, RIGHT, ALSO_RIGHT], ONE, TWO)
    assert agreed.dropped == ()
    assert agreed.winner.code == RIGHT
    assert agreed.reports[0].failed == ("test_one", "test_two")


async def test_a_candidate_that_differs_from_most_is_refuted_where_the_tests_are_silent():
    agreed = await asked(
        [NEAR, RIGHT, ALSO_RIGHT],
        ONE,
        BELOW.replace("-", ""),
        "def test_low():\n    triple(number=-3)\n",
    )
    refuted = agreed.reports[0].refuted
    assert refuted.call == "triple(number=-3)"
    assert (refuted.others, refuted.own) == ("-9", "returns 9")
    assert (agreed.winner.code, agreed.open_question) == (RIGHT, None)


@pytest.mark.parametrize(
    ("codes", "refuted"),
    [
        ([NEAR, RIGHT, RIGHT, ALSO_RIGHT], [NEAR]),
        ([NEAR, NEAR, NEAR_TOO, RIGHT, ALSO_RIGHT], [RIGHT, ALSO_RIGHT]),
        ([NEAR, NEAR, RIGHT, ALSO_RIGHT], [NEAR]),
    ],
    ids=[
        "the one against three",
        "the two against three",
        "one drawn twice, and not those that differ from its two draws alone",
    ],
)
async def test_most_of_the_others_are_most_of_the_draws_beside_the_one_that_is_judged(
    codes: list[str], refuted: list[str]
):
    agreed = await asked(codes, ONE, examples=[MINUS_THREE])
    assert [r.code for r in agreed.reports if r.refuted] == refuted


async def test_copies_of_one_code_are_one_witness_of_a_value_and_leave_an_open_question():
    agreed = await asked([NEAR, RIGHT, RIGHT, RIGHT], ONE, examples=[MINUS_THREE])
    assert [r.refuted for r in agreed.reports] == [None, None]
    assert agreed.open_question.call == "triple(number=-3)"
    assert agreed.winner.code == RIGHT


async def test_of_the_right_ones_that_which_was_drawn_most_often_is_chosen():
    agreed = await asked([WRONG, RIGHT, ALSO_RIGHT, ALSO_RIGHT], ONE)
    assert (agreed.winner.code, agreed.winner.draws, agreed.nearest) == (
        ALSO_RIGHT,
        2,
        agreed.winner,
    )


async def test_a_candidate_that_passes_alone_is_compared_with_nobody():
    agreed = await asked([WRONG, RIGHT], ONE)
    assert (agreed.winner.code, agreed.inputs, agreed.summary()) == (
        RIGHT,
        0,
        "1 of 2 candidates passed the 1 test.",
    )


@pytest.mark.parametrize(
    "codes", [[RAISING, RIGHT, ALSO_RIGHT], [RIGHT, RAISING, RAISING_TOO], [RIGHT, RAISING]]
)
async def test_an_input_on_which_a_candidate_raises_tells_nothing_of_it_or_of_the_others(
    codes: list[str],
):
    agreed = await asked(codes, ONE, examples=[MINUS_THREE])
    assert ([r.right for r in agreed.reports], agreed.open_question) == ([True] * len(codes), None)


async def test_an_input_on_which_another_raises_tells_nothing_of_the_rest():
    agreed = await asked([NEAR, RIGHT, ALSO_RIGHT, THIRD, RAISING], ONE, examples=[MINUS_THREE])
    assert ([r.right for r in agreed.reports], agreed.open_question.call) == (
        [True] * 5,
        "triple(number=-3)",
    )


async def test_a_recursion_that_is_too_deep_is_a_difference():
    deep = f"{HEAD}    return number and 3 + triple(number - 1)\n"
    agreed = await asked([deep, RIGHT, ALSO_RIGHT], ONE)
    assert [r.refuted and r.refuted.own for r in agreed.reports] == [
        "raises RecursionError",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("codes", "tests", "refuted"),
    [
        ([AT_ZERO, RIGHT, ALSO_RIGHT, THIRD], (ONE,), "triple(number=0)"),
        ([AT_ZERO, RIGHT, RIGHT, ALSO_RIGHT], (ONE,), None),
        ([AT_ZERO, AT_ZERO_TOO, RIGHT, ALSO_RIGHT, THIRD], (ONE,), None),
        (
            [AT_ZERO, AT_ZERO_TOO, RIGHT, ALSO_RIGHT, THIRD],
            (ONE, "def test_zero():\n    triple(number=0)\n"),
            "triple(number=0)",
        ),
    ],
    ids=["all others are against it", "two codes are", "one of them is not", "zero is usual"],
)
async def test_on_a_zero_where_no_call_has_one_only_all_others_of_three_codes_refute(
    codes: list[str], tests: Sequence[str], refuted: str | None
):
    agreed = await asked(codes, *tests)
    first = agreed.reports[0].refuted
    assert (first and first.call, agreed.open_question) == (refuted, None)


async def test_a_candidate_whose_suite_did_not_run_to_its_end_is_never_right():
    agreed = await asked([STUCK, STUCK, STUCK, RIGHT, ALSO_RIGHT], ONE)
    assert [(r.right, r.problem, r.refuted) for r in agreed.reports] == [
        (False, "it took too long", None),
        *[(True, None, None)] * 2,
    ]
    assert (agreed.kept, agreed.winner.code) == (1, RIGHT)


async def test_candidates_are_compared_on_more_than_the_calls_of_examples_and_tests():
    known = f"{HEAD}    return 3 * number if number in (1, -3) else 0\n"
    agreed = await asked([known, RIGHT, ALSO_RIGHT], ONE, examples=[MINUS_THREE])
    assert [bool(r.refuted) for r in agreed.reports] == [True, False, False]


async def test_a_rounding_error_is_no_difference():
    agreed = await asked(
        [f"{HEAD}    return 3 * number + 1e-9\n", RIGHT, ALSO_RIGHT], ONE.replace("== 3", "< 4")
    )
    assert ([r.right for r in agreed.reports], agreed.open_question) == ([True] * 3, None)


async def test_two_that_differ_leave_an_open_question():
    agreed = await asked([RIGHT, NEAR], ONE, "def test_low():\n    triple(number=-3)\n")
    assert agreed.open_question.call == "triple(number=-3)"
    assert {agreed.open_question.others, agreed.open_question.own} == {"-9", "returns 9"}
    assert [r.right for r in agreed.reports] == [True, True]


async def test_of_a_test_with_several_assertions_only_the_wrong_one_goes():
    both = (
        "def test_both():\n    low = 1\n    assert triple(number=low) == 3\n    assert "
        "triple(number=5) == 16\n"
    )
    agreed = await asked([RIGHT, ALSO_RIGHT, THIRD], TWO, both)
    assert [d.test for d in agreed.dropped] == ["test_both_2"]
    assert "def test_both_1():\n    low = 1\n    assert triple(number=low) == 3" in agreed.tests
    assert agreed.kept == 2


@pytest.mark.parametrize(
    ("quick", "refuted"),
    [([RIGHT, ALSO_RIGHT, THIRD], 3 * ["takes too long"]), ([RIGHT, ALSO_RIGHT], 3 * [None])],
    ids=["most of the others are quick", "half of them are"],
)
async def test_slow_candidates_are_refuted_where_most_of_the_others_are_quick(
    quick: list[str], refuted: list[str | None]
):
    slow = [
        f"{HEAD}    for _ in range(10**9 if number == 30 else {n}): pass\n    return 3 * number\n"
        for n in range(3)
    ]
    agreed = await asked([*slow, *quick], ONE, examples=[{"number": 30}])
    assert [r.refuted and r.refuted.own for r in agreed.reports] == [*refuted, *[None] * len(quick)]


async def test_candidates_that_are_hardly_quicker_do_not_speak_against_a_slow_one():
    spin = f"{HEAD}    from time import process_time\n    end = process_time() + {{}}\n" + (
        "    while number == 30 and process_time() < end: pass\n    return 3 * number + {}\n"
    )
    slow, *others = (spin.format(*how) for how in ((9, 0), (0.03, 0), (0.03, "0 * number")))
    agreed = await asked([slow, *others], ONE, examples=[{"number": 30}])
    assert [r.refuted for r in agreed.reports] == [None] * 3


async def test_calls_that_a_candidate_had_no_time_for_say_nothing():
    steady = (
        f"{HEAD}    from time import process_time\n    end = process_time() + 0.03\n"
        "    while process_time() < end: pass\n    return 3 * number\n"
    )
    agreed = await asked([steady, RIGHT, ALSO_RIGHT], ONE)
    assert [r.refuted for r in agreed.reports] == [None] * 3


@pytest.mark.parametrize(
    ("tests", "survivors"),
    [
        (
            "def test_zero():\n    assert triple(number=0) == 0\n",
            [
                "line 2: `return 3 * number if number else 0` became `return 3 * number if False "
                "else 0`",
                "line 2: `return 3 * number if number else 0` became `return 3 + number if number "
                "else 0`",
                "line 2: `return 3 * number if number else 0` became `return 4 * number if number "
                "else 0`",
            ],
        ),
        (f"{ONE}    assert triple(number=0) == 0\n", []),
    ],
    ids=["weak", "strong"],
)
async def test_a_suite_is_as_strong_as_the_mutants_that_it_notices(tests, survivors):
    code = f"{HEAD}    return 3 * number if number else 0\n"
    found = await strength(HonestSandbox(), SandboxJob("triple", code, IMPORT + tests))
    assert [m.change for m in found.survivors] == survivors
    assert found.score == (5 - len(survivors)) / 5
    assert found.summary == f"The tests notice {5 - len(survivors)} of 5 mutants."


async def test_altered_outcomes_take_the_place_of_fewer_than_five_mutants():
    found = await strength(HonestSandbox(), SandboxJob("triple", RIGHT, IMPORT + ONE))
    assert (found.killed, found.mutants, found.score) == (0, 0, 1.0)
    replay = Replay(tried=4, noticed=1)
    assert found.model_copy(update={"replay": replay}).score == 0.25


def test_mutants_change_one_thing_each_and_are_the_same_ones_each_time():
    code = "def f(a, b):\n    if a < b and not b:\n        return a + 1\n    return True\n"
    found = mutants(code)
    assert [m.change for m in found] == [m.change for m in mutants(code)]
    assert {
        "line 2: `if a < b and (not b):` became `if a <= b and (not b):`",
        "line 3: `return a + 1` became `return a - 1`",
        "line 4: `return True` became `return False`",
    } <= {m.change for m in found}
    assert len({m.code for m in found}) == len(found)
    assert len(mutants("def f(a):\n" + "    a = a + 1\n" * 50)) == 20
    assert mutants("def f(a):\n    return None\n") == []


KINDS = {
    "return sorted(items, key=abs, reverse=True)": [
        "return None",
        "return items",
        "return sorted(items, reverse=True)",
        "return sorted(items, key=abs)",
        "return sorted(items, key=abs, reverse=False)",
    ],
    "return round(items, 2)": [
        "return None",
        "return items",
        "return round(items)",
        "return round(2, items)",
        "return round(items, 3)",
    ],
    "return items.strip().lstrip('-')": [
        "return None",
        "return items.strip()",
        "return items.lstrip('-')",
        "return items.strip().rstrip('-')",
        "return items.strip().lstrip('XX-XX')",
    ],
    "return items[items:-1]": [
        "return None",
        "return items[:-1]",
        "return items[items:]",
        "return items[items:1]",
        "return items[items:-2]",
    ],
    "items.sort()\n    return [max(n, 1.5) for n in items if n]": [
        "pass",
        "return None",
        "return [max(n, 1.5) for n in items]",
        "return [n for n in items if n]",
        "return [min(n, 1.5) for n in items if n]",
        "return [max(n, 2.5) for n in items if n]",
    ],
    'return f"{items:.2f}" if not items else math.ceil(items)': [
        "return None",
        "return f'{items:.2f}' if False else math.ceil(items)",
        "return f'{items}' if not items else math.ceil(items)",
        "return f'{items:.2f}' if items else math.ceil(items)",
        "return f'{items:.2f}' if not items else items",
        "return f'{items:.2f}' if not items else math.floor(items)",
    ],
}


@pytest.mark.parametrize("body", KINDS)
def test_code_made_of_calls_has_mutants_too(body):
    found = mutants(f"import math\n\n\ndef f(items):\n    {body}\n")
    assert sorted(m.after for m in found) == sorted(KINDS[body])


def test_what_no_test_of_results_notices_is_not_changed():
    assert not mutants(
        "from functools import lru_cache\n\n\n@lru_cache(maxsize=9)\n"
        "def f(a: 'int') -> 'list[1]':\n    \"\"\"Do it.\"\"\"\n    raise ValueError('a', 1 + 1)\n"
    )


def test_the_mutants_are_spread_over_the_lines():
    dense = f"    b = [{' + '.join(['a'] * 40)}]\n"
    found = mutants(f"def f(a):\n{dense}    a = a + 1\n    return b[a]\n")
    assert {m.line for m in found} == {2, 3, 4}


def test_of_a_long_line_a_mutant_shows_the_part_around_its_change():
    words = ", ".join(f"'word number {n}'" for n in range(20))
    code = f"def f(a):\n    return [{words}, a + 1, {words}]\n"
    changed = next(m for m in mutants(code) if " - " in m.after)
    assert "19', a + 1, 'word" in changed.before
    assert "19', a - 1, 'word" in changed.after
    assert all(
        line.startswith("…") and line.endswith("…") and len(line) < 120
        for line in (changed.before, changed.after)
    )


def test_a_change_within_several_lines_shows_its_own_line():
    code = 'def f(a):\n    match a:\n        case 1 if a > 0:\n            return "one"\n'
    assert "case 1 if a >= 0:" in {m.after for m in mutants(code)}


@pytest.mark.parametrize(
    "table",
    [
        "{" + ", ".join(f"'{n}': {n}" for n in range(60)) + "}",
        "[" + ", ".join(f"({n}, {n * n})" for n in range(60)) + "]",
    ],
    ids=["values by key", "pairs"],
)
def test_the_literals_of_a_table_do_not_crowd_out_the_other_mutants(table):
    code = f"TABLE = {table}\n\n\ndef f(a):\n    if a < 3:\n        return a + 1\n    return TABLE[a]\n"
    found = mutants(code)
    assert len([m for m in found if m.line == 1]) == 2
    assert {m.before for m in found if m.line > 1} == {
        "if a < 3:",
        "return a + 1",
        "return TABLE[a]",
    }


def test_two_candidates_that_differ_most_are_kept_as_witnesses() -> None:
    documented = f'{HEAD}    """Three times."""\n    return 3 * number  # so\n'
    like_right = f"{HEAD}    return 3 * (number + 0)\n"
    others = distinct([documented, RIGHT, like_right, ALSO_RIGHT, THIRD])
    assert set(kept_witnesses(RIGHT, others)) == {ALSO_RIGHT, THIRD}
    assert kept_witnesses(RIGHT, distinct([documented, RIGHT])) == ()
