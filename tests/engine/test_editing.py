"""Changes to a suite's source: what goes, what is taken apart, and that everything else keeps its
form.
"""

import ast

import pytest

from selfeng.synthesis.suite.editing import apart, names_of, without
from selfeng.synthesis.suite.joining import joined

SUITE = """import pytest
from f import f

# cases
@pytest.mark.parametrize("a, b", [(1, 2), ("x y", 3), ([1], 4), (None, 5)])
def test_cases(a, b):
    assert f(a) == b


def test_one():
    assert f(1) == 2  # said so


class TestMore:
    def test_two(self):
        assert f(2) == 3
"""


@pytest.mark.parametrize(
    ("names", "gone", "left"),
    [
        (["test_one"], ["test_one", "said so"], ["# cases", "test_cases", "TestMore"]),
        (
            ["test_cases[x y-3]", "test_cases[None-5]"],
            ["x y", "None"],
            ["(1, 2)", "([1], 4)", "said so"],
        ),
        (["test_cases[a2-4]"], ["([1], 4)"], ["(1, 2)", "x y"]),
        (["test_cases"], ["test_cases", "parametrize"], ["test_one", "# cases"]),
        (["test_cases[nobody]"], ["test_cases"], ["test_one"]),
        (["TestMore::test_two"], ["test_two", "class TestMore"], ["test_one"]),
        ([], [], ["test_cases", "test_one", "TestMore"]),
    ],
)
def test_tests_and_cases_are_taken_out(names, gone, left):
    edited = without(SUITE, "f", names)
    ast.parse(edited)
    assert [g for g in gone if g in edited] == []
    assert [kept for kept in left if kept not in edited] == []


def test_assertions_that_call_the_tool_become_tests_of_their_own():
    source = (
        "from f import f\n\n\ndef test_a():\n    x = [1]\n    assert f(x) == 1\n    y = "
        "f(2)\n    assert f(y) == 3\n"
    )
    assert apart(source, "f", ["test_a"]) == (
        "from f import f\n\n\ndef test_a_1():\n    x = [1]\n    assert f(x) == 1\n\n\n"
        "def test_a_2():\n    x = [1]\n    y = f(2)\n    assert f(y) == 3\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "    x = [1]\n    assert f(x) == 1\n    assert x == [1]\n",
        "    assert f(1) == 1\n",
        "    for n in (1, 2):\n        assert f(n) == n\n",
    ],
    ids=["looks at what came before", "only one", "a loop"],
)
def test_what_belongs_together_stays_together(body):
    source = f"from f import f\n\n\ndef test_a():\n{body}"
    assert apart(source, "f", ["test_a"]) == source


def test_suites_are_joined_and_no_test_is_lost():
    other = (
        "from f import f\n\n\ndef test_one():\n    assert f(9) == 9\n\n\ndef test_three():\n  "
        "  assert f(3) == 4\n"
    )
    whole = joined(SUITE, "", other)
    assert names_of(whole, "f") == {
        "test_cases",
        "test_one",
        "TestMore::test_two",
        "test_one_2",
        "test_three",
    }
    assert "def test_one_2():\n    assert f(9) == 9" in whole


def test_what_a_suite_says_already_is_not_said_again():
    again = "from f import f\n\n\ndef test_one():\n    assert f(1) == 2\n"
    assert names_of(joined(SUITE, again), "f") == names_of(SUITE, "f")
