"""Asserts of suites explain themselves when they fail."""

import ast
from pathlib import Path
from typing import Any

import pytest

from sandbox_worker.asserts import EXPLAIN, Asserts
from selfeng_offline.cookbook.recipe import recipes


@pytest.fixture
def asserts(pytestconfig: pytest.Config) -> Asserts:
    return Asserts(pytestconfig)


def failure(asserts: Asserts, test: str, **names: Any) -> str:
    tree = ast.parse(f"def test():\n    assert {test}\n")
    asserts.rewrite(tree)
    module: dict[str, Any] = {EXPLAIN: asserts.explain, **names}
    exec(compile(tree, "test.py", "exec"), module)
    with pytest.raises(AssertionError) as caught:
        module["test"]()
    assert caught.traceback[-1].lineno == 1
    return str(caught.value)


class Odd:
    def __repr__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("f(3) == 4", "assert 3 == 4\n +  where 3 = f(3)"),
        ("x == f(5), 'words'", "words\nassert 3 == 5\n +  where 5 = f(5)"),
        ("f(5) < x < f(1 / 0)", "assert 5 < 3 < f(1 / 0)\n +  where 5 = f(5)"),
        ("not f(x)", "assert not 3\n +  where 3 = f(x)"),
        ("isinstance(f(x), str)", "assert isinstance(3, str)\n +  where 3 = f(x)"),
        ("all(y for y in (0, x))", "assert False\n +  where False = all((y for y in (0, x)))"),
        ("f(0)", "assert f(0)"),
        ("x == 3 and f(0)", "assert 0\n +  where 0 = x == 3 and f(0)"),
        ("(lambda: odd)() is None", "assert <Odd object> is None"),
        ("x in [1, 2]", "assert 3 in [1, 2]"),
        ("(y := f(2)) > x", "assert 2 > 3\n +  where 2 = (y := f(2))"),
        ("f('a' * 999) == ''", "a...a"),
    ],
)
def test_a_failed_assert_shows_its_values(asserts: Asserts, test: str, message: str) -> None:
    said = failure(asserts, test, f=lambda value: value, x=3, odd=Odd())
    assert message in said
    assert len(said) < 1500


def test_what_differs_is_shown(asserts: Asserts) -> None:
    said = failure(asserts, "f([1, 2]) == [1, 3]", f=list)
    assert "At index 1 diff: 2 != 3" in said


def test_every_operand_is_evaluated_once_and_in_order(asserts: Asserts) -> None:
    seen: list[int] = []

    def f(value: int) -> int:
        seen.append(value)
        return value

    failure(asserts, "f(1) < f(2) < f(3) < f(3) < f(4), f(5)", f=f)
    assert seen == [1, 2, 3, 3, 5]


def test_every_suite_of_ours_can_be_rewritten(asserts: Asserts) -> None:
    suites = [recipe.tests for recipe in recipes()]
    suites += [f.read_text(encoding="utf-8") for f in Path(__file__).parent.glob("*.py")]
    for suite in suites:
        tree = ast.parse(suite)
        asserts.rewrite(tree)
        compile(tree, "test.py", "exec", dont_inherit=True)
