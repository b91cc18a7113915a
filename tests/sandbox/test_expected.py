"""The tests that a suite must report, read from its source."""

import pytest

from selfeng.sandboxes.job_sources import SuiteProblem, expected_tests

SUITE = """
import unittest, pytest

def helper(): pass
def test_a(): pass
async def test_async(): pass

@pytest.fixture
def test_data(): return 1

@pytest.mark.parametrize("x", [1, 2])
def test_many(x): pass

if True:
    def test_conditional(): pass

class TestGroup:
    def test_in(self): pass
    def helper(self): pass

class TestMore(TestGroup):
    def test_other(self): pass

class Base(unittest.TestCase):
    def test_base(self): pass

class Derived(Base):
    pass

class NoTests:
    def test_not(self): pass
"""


def test_functions_methods_and_inherited_methods_count() -> None:
    assert expected_tests(SUITE) == {
        "test_a",
        "test_async",
        "test_many",
        "test_conditional",
        "TestGroup::test_in",
        "TestMore::test_in",
        "TestMore::test_other",
        "Base::test_base",
        "Derived::test_base",
    }


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def test_a(:", "The tests have a syntax error in line 1: invalid syntax: def test_a(:"),
        ("\0", "The tests are not valid Python: source code string cannot contain null bytes"),
        (
            "def helper(): pass",
            "The tests define no test: there is no function whose name begins with `test`.",
        ),
    ],
)
def test_what_is_no_suite_is_said(source: str, problem: str) -> None:
    with pytest.raises(SuiteProblem) as raised:
        expected_tests(source)
    assert str(raised.value) == problem


def test_nesting_without_end_is_no_suite() -> None:
    with pytest.raises(SuiteProblem):
        expected_tests("(" * 100_000)
