"""Every wrong tool and every hostile suite that the tests know, as `make bench-forging` takes them
through the whole gate.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.sandbox import (
    hostile,
    test_forging,
    test_forging_by_answers,
    test_forging_by_loading,
    test_forging_by_names,
    test_forging_sideways,
    test_hostile_suites,
)


@dataclass(frozen=True)
class WrongTool:
    name: str
    function: str
    specified: str
    """A module whose function has the signature that is wanted."""
    code: str
    suite: str


RIGHT = WrongTool(
    "the right tool", "solution", test_forging.RIGHT, test_forging.RIGHT, test_forging.SUITE
)


WEAK = (
    "import pytest\nfrom solution import solution\ndef test_a(): assert solution(2) == 4\ndef "
    "test_b(): assert solution(0) == 0\n"
)
"""A suite that a square, a sum and more pass."""


def wrong_tools() -> list[WrongTool]:
    attacks = {**test_forging.ATTACKS, **test_forging_sideways.ATTACKS}
    forging = [
        _solution(name, code if "def solution(" in code else code + test_forging.WRONG, RIGHT.suite)
        for name, code in attacks.items()
    ]
    tools = [
        WrongTool(
            case,
            hostile.NAME,
            hostile.HONEST,
            form(hostile.CASES[case].payload).replace("(x=0):", "(x):"),
            hostile.SUITE,
        )
        for case in hostile.of_role("tool")
        for form in (hostile.as_module, hostile.as_function)
    ]
    suites = [
        WrongTool(
            case,
            hostile.NAME,
            hostile.HONEST,
            f"def {hostile.NAME}(x): return None\n",
            test_hostile_suites.suite(case),
        )
        for case in hostile.of_role("tests")
    ]
    return [
        *forging,
        *tools,
        *suites,
        *_by_loading(),
        *_by_names(),
        *_by_answers(),
        *_with_weak_suites(),
    ]


def _solution(name: str, code: str, suite: str) -> WrongTool:
    return WrongTool(
        name, "solution", code if "def solution(path)" in code else RIGHT.code, code, suite
    )


def _by_loading() -> Iterator[WrongTool]:
    loading = test_forging_by_loading
    for code, suites in ((loading.PICKLED, loading.PICKLES), (loading.TEXT, loading.TEXTS)):
        yield from (_solution(name, code, loading.HEAD + suite) for name, suite in suites.items())
    yield from (
        _solution(name, loading.PLAIN, loading.HEAD + suite)
        for name, (suite, _) in loading.STARTS.items()
    )


def _by_names() -> Iterator[WrongTool]:
    names = test_forging_by_names
    yield from (
        _solution(name, f"{code}def solution(n): return 0\n", names.SUITE)
        for name, code in names.SHADOWS.items()
    )


def _by_answers() -> Iterator[WrongTool]:
    answers = test_forging_by_answers
    for name, (code, test, _) in answers.OBJECTS.items():
        yield _solution(name, code, f"{answers.HEAD}def test_a():\n    {test}\n")
    for name, (value, test, other) in answers.NANS.items():
        yield _solution(
            name,
            f"def solution(n): return {value}\n",
            f"{answers.HEAD}def test_a():\n    {test}\n{other}\n",
        )
    for name, (code, test) in answers.STOPS.items():
        yield _solution(name, code, f"{answers.HEAD}def test_a():\n    {test}\n")
    for name, (value, test) in answers.EMPTIES.items():
        yield _solution(
            name, f"def solution(n): return {value}\n", f"{answers.HEAD}def test_a():\n    {test}\n"
        )


def _with_weak_suites() -> Iterator[WrongTool]:
    """Wrong for most numbers, but not for those that the suite tries."""
    bodies = {
        "a sum": "n + n if n < 9 else n - n + 5",
        "a power": "n ** 2 if n < 3 else n ** 3 + n - n",
        "a clamped square": "n * n if 0 <= n <= 2 and n > -1 else 0 * n + 7",
    }
    yield from (
        _solution(name, f"def solution(n):\n    return {body}\n", WEAK)
        for name, body in bodies.items()
    )
