"""Suites against tools, in real containers: what passes, what fails with which words, and what is a
problem.
"""

import re

import pytest

from selfeng.core.packages import sandbox_packages
from selfeng.core.verdict import SandboxJob, TestResult, Verdict
from selfeng.sandbox import SecureSandbox
from tests.sandbox.backends import Behind

pytestmark = pytest.mark.asyncio(loop_scope="session")

GOOD = """
class TooBig(ValueError):
    pass

LIMIT = 10

def double(n):
    return n * 2

def solution(n: int) -> int:
    if n > LIMIT:
        raise TooBig(f"{n} is more than {LIMIT}")
    return double(n)
"""
SUITE = """
import pytest
from solution import LIMIT, TooBig, double, solution
import solution as module

@pytest.mark.parametrize("n", [1, 2])
def test_doubles(n):
    assert solution(n) == n * 2

def test_limit():
    with pytest.raises(TooBig, match="11 is more than 10"):
        solution(LIMIT + 1)

class TestHelpers:
    def test_double(self):
        assert double(3) == module.double(3) == 6
"""


async def test_a_right_tool_passes(verify) -> None:
    verdict = await verify(GOOD, SUITE)
    assert verdict == Verdict(
        passed=True,
        tests=tuple(
            TestResult(test=test, outcome="passed", seconds=result.seconds)
            for test, result in zip(
                ("test_doubles[1]", "test_doubles[2]", "test_limit", "TestHelpers::test_double"),
                verdict.tests,
                strict=True,
            )
        ),
        seconds=verdict.seconds,
        image=verdict.image,
    )


WRONG = """
def half(n):
    return n / 0

def solution(n):
    print("called with", n)
    return half(n) if n == 3 else n
"""
WRONG_SUITE = """
import pytest, math
from solution import solution

def test_value():
    assert solution(2) == 4

def test_raises_itself():
    assert solution(3) == 1.5

def test_expects_an_error():
    with pytest.raises(ValueError):
        solution(1)

@pytest.fixture
def broken():
    raise KeyError("fixture")

def test_fixture(broken):
    pass

def test_right():
    assert solution(1) == 1

def test_many_lines():
    assert list(range(solution(100))) == []
"""


async def test_a_wrong_tool_fails_with_what_a_repair_needs(verify) -> None:
    verdict = await verify(WRONG, WRONG_SUITE)
    assert (verdict.passed, verdict.problem) == (False, None)
    assert {r.test: (r.outcome, r.message) for r in verdict.tests[:5]} == {
        "test_value": (
            "failed",
            "line 6: assert solution(2) == 4\nAssertionError: assert 2 == 4\n +  where 2 = "
            "solution(2)",
        ),
        "test_raises_itself": (
            "failed",
            "line 9: assert solution(3) == 1.5\nZeroDivisionError: division by zero\n"
            "in the tool: solution.py, line 7, in solution: return half(n) if n == 3 else n\n"
            "in the tool: solution.py, line 3, in half: return n / 0",
        ),
        "test_expects_an_error": (
            "failed",
            "line 12: with pytest.raises(ValueError):\nDID NOT RAISE ValueError",
        ),
        "test_fixture": ("error", "line 17: raise KeyError(\"fixture\")\nKeyError: 'fixture'"),
        "test_right": ("passed", ""),
    }
    assert verdict.tests[5].outcome == "failed"
    assert len(verdict.tests[5].message) <= 1500
    assert verdict.output.splitlines() == [
        "called with 2",
        "called with 3",
        "called with 1",
        "called with 1",
        "called with 100",
    ]


OFFER = f"It has {', '.join(sandbox_packages())} and the standard library."
TEST = "from solution import solution\ndef test_a():\n    assert solution(1) == 1\n"
RIGHT = "def solution(n):\n    return n\n"


@pytest.mark.parametrize(
    ("code", "tests", "problem"),
    [
        (
            "def solution(:",
            TEST,
            "The code has a syntax error in line 1: invalid syntax: def solution(:",
        ),
        (
            RIGHT,
            "def test_a(:",
            "The tests have a syntax error in line 1: invalid syntax: def test_a(:",
        ),
        (
            "import nothing_like_this\n" + RIGHT,
            TEST,
            "The code needs the package `nothing_like_this`, which the sandbox does not have. "
            f"{OFFER}",
        ),
        (
            RIGHT,
            "from wrong_name import solution\n" + TEST,
            f"The tests need the package `wrong_name`, which the sandbox does not have. {OFFER} "
            "(The tool's module is called `solution`.)",
        ),
        (
            "def other(): pass",
            TEST,
            "The tests can't be imported: ImportError: cannot import name 'solution' from "
            "'solution' (solution.py)"
            "\ntest_solution.py, line 1, in <module>: from solution import solution",
        ),
        (
            "1 / 0",
            TEST,
            "The code can't be imported: ZeroDivisionError: division by zero\nsolution.py, line "
            "1, in <module>: 1 / 0",
        ),
        (
            RIGHT,
            "x = 1",
            "The tests define no test: there is no function whose name begins with `test`.",
        ),
        (
            RIGHT,
            "import pytest\n@pytest.mark.skip\n" + TEST.splitlines()[1] + " pass",
            "Tests must not be skipped or expected to fail: test_a.",
        ),
        (
            RIGHT,
            "import pytest\n@pytest.mark.xfail\ndef test_a(): assert False",
            "Tests must not be skipped or expected to fail: test_a.",
        ),
        (
            RIGHT,
            "import pytest\n@pytest.mark.xfail\ndef test_a(): assert True",
            "Tests must not be skipped or expected to fail: test_a.",
        ),
        (
            RIGHT,
            "def test_a(): pass\nglobals()['test_b'] = test_a",
            "pytest collected tests that the suite's source does not define: test_b.",
        ),
        (
            RIGHT,
            "def test_a(): pass\ndel test_a\ndef test_b(): pass",
            "pytest did not collect every test that the suite defines: test_a is missing.",
        ),
        (
            RIGHT,
            "class TestA:\n    __test__ = False\n    def test_a(self): assert 0",
            "pytest did not collect every test that the suite defines: TestA::test_a is missing.",
        ),
        (
            RIGHT,
            "import pytest\n@pytest.mark.parametrize('n', [])\ndef test_a(n): assert n",
            "Tests must not be skipped or expected to fail: test_a[NOTSET].",
        ),
        (
            RIGHT,
            "import os\ndef test_a(): os._exit(0)",
            "The tests' process ended itself with exit code 0, in test_a.",
        ),
        (
            RIGHT,
            "import pytest\ndef test_a(): pytest.exit('enough')",
            "The run was interrupted by Exit.",
        ),
        (
            "def solution(n):\n    return bytearray(10**9)",
            TEST,
            "It needed more memory than the 256 MB that the sandbox gives, in test_a.",
        ),
    ],
)
async def test_what_spoils_a_run_is_a_problem(verify, code: str, tests: str, problem: str) -> None:
    verdict = await verify(code, tests)
    assert (verdict.passed, verdict.problem) == (False, problem)


@pytest.mark.parametrize(
    ("code", "tests", "where"),
    [
        ("def solution(n):\n    while True: pass", TEST, ", in test_a"),
        ("while True: pass", TEST, ""),
        (RIGHT, "import re\ndef test_a(): re.match('(a+)+$', 'a' * 50 + 'b')", ", in test_a"),
        (RIGHT, "while True: pass\ndef test_a(): pass", ""),
    ],
)
async def test_a_run_that_works_too_long_is_ended(
    hasty: SecureSandbox, code: str, tests: str, where: str
) -> None:
    verdict = await hasty.verify(SandboxJob("solution", code, tests), lambda result: None)
    assert (verdict.passed, verdict.problem) == (
        False,
        f"It used 1 s of processor time{where}.",
    )


@pytest.mark.parametrize(
    ("code", "tests", "where"),
    [
        ("import time\ntime.sleep(1000)", TEST, ""),
        (RIGHT, "import time\ndef test_a(): time.sleep(1000)", ", in test_a"),
    ],
)
async def test_a_run_that_only_waits_is_tried_again_and_ended(
    impatient: SecureSandbox, backend: Behind, code: str, tests: str, where: str
) -> None:
    verdict = await impatient.verify(SandboxJob("solution", code, tests), lambda result: None)
    assert verdict.problem is not None
    seconds = "1[0-2]" if backend.name == "runsc" else "[3-6]"  # it has more time there
    assert re.fullmatch(
        rf"It did not end within {seconds} s{where}; it used 0\.\d s of processor time\.",
        verdict.problem,
    )


async def test_a_tool_whose_name_begins_like_a_test_is_no_test(sandbox: SecureSandbox) -> None:
    tests = "from test_double import test_double\ndef test_a(): assert test_double(2) == 4"
    verdict = await sandbox.verify(
        SandboxJob("test_double", "def test_double(n): return n * 2", tests), lambda result: None
    )
    assert (verdict.passed, [r.test for r in verdict.tests]) == (True, ["test_a"])


async def test_what_pytest_offers_works_across_the_processes(verify) -> None:
    code = "def solution(path):\n    print('reading')\n    return open(path).read()"
    tests = """
import logging
import unittest
from solution import solution

def test_caplog(caplog):
    logging.getLogger("a").warning("text")
    assert caplog.messages == ["text"]

def test_tmp_path_and_capsys(tmp_path, capsys):
    (tmp_path / "a").write_text("text")
    assert solution(str(tmp_path / "a")) == "text"
    assert capsys.readouterr().out == "reading\\n"

class TestCase(unittest.TestCase):
    def test_raises(self):
        with self.assertRaises(FileNotFoundError):
            solution("/nothing")
"""
    verdict = await verify(code, tests)
    assert (verdict.problem, [(r.test, r.outcome) for r in verdict.tests]) == (
        None,
        [
            ("test_caplog", "passed"),
            ("test_tmp_path_and_capsys", "passed"),
            ("TestCase::test_raises", "passed"),
        ],
    )


async def test_a_test_with_and_one_without_fixtures_end_alike(verify) -> None:
    tests = """
import functools
import pytest
import unittest
from solution import solution

@pytest.fixture
def nothing():
    pass

def not_awaited(test):
    return functools.wraps(test)(lambda *args, **kwargs: test(*args, **kwargs))

async def test_async(FIXTURE): assert False
async def test_generator(FIXTURE): yield
@not_awaited
async def test_wrapped(FIXTURE): assert False
def test_skips(FIXTURE): pytest.skip("not today")
def test_skips_as_unittest_does(FIXTURE): raise unittest.SkipTest("not today")
def test_expects_a_failure(FIXTURE): pytest.xfail("it is known")
def test_exits(FIXTURE): raise SystemExit(0)
def test_returns(FIXTURE): return solution(1)
@pytest.mark.parametrize("n", [1, 2])
def test_counts(FIXTURE, n): assert solution(n) == 1
"""
    plain = await verify(
        "def solution(n): return n", tests.replace("FIXTURE, ", "").replace("FIXTURE", "")
    )
    prepared = await verify("def solution(n): return n", tests.replace("FIXTURE", "nothing"))
    assert [(r.test, r.outcome) for r in plain.tests] == [
        ("test_async", "failed"),
        ("test_generator", "failed"),
        ("test_wrapped", "failed"),
        ("test_skips", "skipped"),
        ("test_skips_as_unittest_does", "skipped"),
        ("test_expects_a_failure", "skipped"),
        ("test_exits", "failed"),
        ("test_returns", "passed"),
        ("test_counts[1]", "passed"),
        ("test_counts[2]", "failed"),
    ]
    assert [(r.test, r.outcome) for r in prepared.tests] == [
        (r.test, r.outcome) for r in plain.tests
    ]
    for alone, beside in zip(plain.tests, prepared.tests, strict=True):
        assert _without_lines(alone.message) == _without_lines(beside.message)


def _without_lines(message: str) -> str:
    return re.sub(r"^line .*\n|0x\w+", "", message)


async def test_output_of_suite_and_tool_is_kept_in_order(verify) -> None:
    """That of each process always; between the two on a machine that is not too busy to read."""
    code = (
        "import sys\nprint('load')\ndef solution(n):\n    print('call')\n    print('error', "
        "file=sys.stderr)\n    return n"
    )
    tests = """
from solution import solution
def test_a():
    print("before")
    solution(1)
    print("after")
    assert False
def test_b():
    assert solution(2) == 2
"""
    outputs = []
    for _ in range(5):
        outputs.append((await verify(code, tests)).output.splitlines())
        if outputs[-1] == ["load", "before", "call", "error", "after", "call", "error"]:
            break
    else:
        pytest.fail(str(outputs))
    for lines in outputs:
        suite = [line for line in lines if line in ("before", "after")]
        tool = [line for line in lines if line not in suite]
        assert (suite, tool) == (["before", "after"], ["load", *["call", "error"] * 2])


async def test_output_is_capped(verify) -> None:
    verdict = await verify("print('x' * 10**6)\n" + RIGHT, TEST)
    assert verdict.passed
    assert verdict.output == "x" * 65536 + "\n... (cut at 64 KB)"


async def test_results_arrive_before_the_run_is_over(sandbox: SecureSandbox) -> None:
    """The second test waits for ever: that the first is known already ends the wait."""
    import asyncio

    first: asyncio.Future[TestResult] = asyncio.get_running_loop().create_future()
    tests = (
        "import time\nfrom solution import solution\ndef test_a(): assert solution(1) == "
        "1\ndef test_b(): time.sleep(1000)"
    )
    run = asyncio.create_task(
        sandbox.verify(SandboxJob("solution", RIGHT, tests), first.set_result)
    )
    assert (await first).test == "test_a"
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
