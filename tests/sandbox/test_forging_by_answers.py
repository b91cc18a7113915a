"""A tool's results do not decide whether they are right: they are copies, and a test that passes
whatever they are is refused.
"""

import pytest

from selfeng.core.verdict import SandboxJob, Version
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = "import math, pytest\nfrom solution import solution\n"
AGREEING = """
class Agreeing:
    def __getattr__(self, name): return lambda *args, **kwargs: True
    def __iter__(self): return iter(range(10**9))
def solution(n): return Agreeing()
"""
ITERATOR = "import itertools\ndef solution(n): return itertools.count()\n"
CLASS = (
    "class solution:\n    def __init__(self, n): self.n = n\n    def startswith(self, text): "
    "return True\n"
    "    def issubset(self, other): return True\n"
)
OBJECTS = {
    "a text's method": (
        AGREEING,
        "assert solution(1).startswith('abc')",
        "has more than 10000 values",
    ),
    "a set's method": (
        AGREEING,
        "assert solution(1).issubset({1, 2})",
        "has more than 10000 values",
    ),
    "a list's method": (
        AGREEING,
        "assert solution(1).count(41) == 1",
        "has more than 10000 values",
    ),
    "an array's method": (
        AGREEING,
        "assert solution(1).equals([41]) is True",
        "has more than 10000 values",
    ),
    "what contains all": (AGREEING, "assert 41 in solution(1)", "has more than 10000 values"),
    "an endless iterator": (ITERATOR, "assert 41 in solution(1)", "has more than 10000 values"),
    "a class in the place of the function": (
        CLASS,
        "assert solution(1).startswith('abc')",
        "passes whatever solution does",
    ),
    "within a list": (
        AGREEING + "one = solution\ndef solution(n): return [one(n)]",
        "assert solution(1)[0].endswith('abc')",
        "has more than 10000 values",
    ),
}
NANS = {
    "a float": (
        "float('nan')",
        "assert not solution(1) < 41",
        "def test_b(): assert math.isnan(41.0) is False",
    ),
    "in a list": (
        "[float('nan'), 1]",
        "if abs(solution(1)[0] - 41) > 1e-9: pytest.fail('wrong')",
        "",
    ),
    "a Decimal": (
        "__import__('decimal').Decimal('sNaN')",
        "r = solution(1)\n    assert str(r) != '40'",
        "",
    ),
    "a complex number": ("complex('nan')", "assert solution(1) != 40", ""),
    "a field of a record": (
        "__import__('dataclasses').make_dataclass('R', ['x'])(float('nan'))",
        "assert not solution(1).x > 41 and not solution(1).x < 41",
        "",
    ),
}
STOPS = {
    "a function": (
        "def solution(n): raise StopIteration",
        "assert all(map(lambda n: solution(n) == n + 1, [1, 2]))",
    ),
    "a class of its own": (
        "class Mine(StopIteration): pass\ndef solution(n): raise Mine(41)",
        "found = []\n    for value in map(solution, [1, 2]): found.append(value == 41)\n    "
        "assert all(found)",
    ),
    "next of nothing": (
        "def solution(n): return next(iter([]))",
        "assert not any(map(lambda n: solution(n) != 41, range(3)))",
    ),
    "an asynchronous end": (
        "def solution(n): raise StopAsyncIteration",
        "import asyncio\n    class Calls:\n        def __aiter__(self): return self\n"
        "        async def __anext__(self): return solution(1)\n"
        "    async def run(): return [x async for x in Calls() if x != 41]\n    assert "
        "asyncio.run(run()) == []",
    ),
}
EMPTIES = {
    "allclose": ("[]", "import numpy as np\n    assert np.allclose(solution(1), 41)"),
    "a comparison of arrays": (
        "[]",
        "import numpy as np\n    assert (np.array(solution(1)) == np.array([41])).all()",
    ),
    "an assertion of numpy's": (
        "[[]]",
        "import numpy as np\n    np.testing.assert_array_equal(solution(1), 41)",
    ),
    "all of nothing": ("()", "assert all(value == 41 for value in solution(1))"),
}


async def refusal(sandbox: SecureSandbox, code: str, tests: str) -> str:
    """Why a suite proves nothing about a tool; "" if it proves something."""
    versions = [Version(code=code, whole=True, replay="quick")]
    (verdict,) = await sandbox.verify_versions(SandboxJob("solution", tests=tests), versions)
    failed = [t.message for t in verdict.tests if t.outcome != "passed"]
    reasons = [reason for _, reason in verdict.replay.refused] if verdict.replay else []
    return "\n".join([verdict.problem or "", *failed, *reasons]).strip()


@pytest.mark.parametrize(("code", "test", "reason"), OBJECTS.values(), ids=OBJECTS.keys())
async def test_an_object_that_answers_for_itself_proves_nothing(
    sandbox: SecureSandbox, code: str, test: str, reason: str
) -> None:
    assert reason in await refusal(sandbox, code, f"{HEAD}def test_a():\n    {test}\n")


@pytest.mark.parametrize(("value", "test", "other"), NANS.values(), ids=NANS.keys())
async def test_nan_that_fails_no_comparison_proves_nothing(
    sandbox: SecureSandbox, value: str, test: str, other: str
) -> None:
    code = f"def solution(n): return {value}\n"
    suite = f"{HEAD}def test_a():\n    {test}\n{other}\n"
    assert "test_a passes wh" in await refusal(sandbox, code, suite)


@pytest.mark.parametrize(("code", "test"), STOPS.values(), ids=STOPS.keys())
async def test_a_stop_that_ends_the_callers_loop_is_an_error(
    sandbox: SecureSandbox, code: str, test: str
) -> None:
    reason = await refusal(sandbox, code, f"{HEAD}def test_a():\n    {test}\n")
    assert "which ends the loop or task that calls it; raise another exception" in reason


@pytest.mark.parametrize(("value", "test"), EMPTIES.values(), ids=EMPTIES.keys())
async def test_a_list_without_elements_is_not_all_right(
    sandbox: SecureSandbox, value: str, test: str
) -> None:
    code = f"def solution(n): return {value}\n"
    reason = await refusal(sandbox, code, f"{HEAD}def test_a():\n    {test}\n")
    assert "test_a passes whether" in reason


async def test_nan_while_the_suite_is_loaded_proves_nothing(sandbox: SecureSandbox) -> None:
    code = "def solution(n): return float('nan')\n"
    suite = f"{HEAD}X = solution(1)\ndef test_a(): assert not X < 41\n"
    assert "test_a passes wh" in await refusal(sandbox, code, suite)


HONEST = """
class Stack:
    def __init__(self, items=()): self.items = list(items)
    def pop(self): return self.items.pop()
    def count(self, value): return self.items.count(value)
    def push(self, value): self.items.append(value); return self
    def __iter__(self): return iter(self.items)
def filled(n): return Stack(range(n))
def up_to(n): yield from range(n)
def mean(numbers): return sum(numbers) / len(numbers) if numbers else float("nan")
def evens(numbers): return [n for n in numbers if n % 2 == 0]
def solution(n): return n
"""
HONEST_SUITE = """
import math
import numpy as np
from solution import Stack, evens, filled, mean, solution, up_to
def test_an_object_of_a_class_that_the_suite_names():
    assert filled(3).pop() == 2 and Stack([1, 1]).count(1) == 2 and 4 in Stack().push(4)
def test_an_iterator():
    assert list(up_to(3)) == [0, 1, 2] and 2 in list(up_to(3)) and next(up_to(1)) == 0
    assert next(up_to(0), None) is None
def test_nan_that_is_meant():
    assert math.isnan(mean([])) and mean([1]) == 1
def test_nan_in_a_list_that_is_meant():
    assert str(solution([float("nan")])) == "[nan]"
def test_empty_lists_that_are_meant():
    assert evens([1]) == [] and all(n % 2 == 0 for n in evens([1, 2])) and np.allclose(evens([2]), [2])
def test_empty_lists_among_others():
    assert all(np.allclose(evens(range(n)), range(0, n, 2)) for n in range(3))
"""


async def test_honest_objects_and_values_are_not_doubted(sandbox: SecureSandbox) -> None:
    assert await refusal(sandbox, HONEST, HONEST_SUITE) == ""
