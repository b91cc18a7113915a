"""The forgeries themselves; `make bench-forging` takes them through the whole chain."""

from collections import Counter

import pytest

from selfeng.core.signature import parse_signature
from tests.sandbox.forgeries import forgeries, forgery, honest


def test_each_has_a_name_of_its_own():
    names = Counter(case.name for case in [*forgeries(), *honest()])
    assert [name for name, times in names.items() if times > 1] == []


def test_a_wrong_tool_has_the_signature_of_the_right_one():
    differing = [
        case.name
        for case in forgeries()
        if case.right == case.wrong
        or parse_signature(case.right, case.function) != parse_signature(case.wrong, case.function)
    ]
    assert differing == []


def test_honest_suites_have_no_wrong_tool():
    assert [case.name for case in honest() if case.wrong or case.mechanism] == []


def test_a_change_that_fits_nowhere_is_refused():
    with pytest.raises(ValueError, match="'z' is not in 'x' exactly once"):
        forgery("A", "x", "def f(): return 1", "from f import f", {"z": "y"})


def test_a_suite_without_its_tool_is_refused():
    with pytest.raises(ValueError, match="the suite of 'x' does not import its tool"):
        forgery("A", "x", "def f(): return 1", "import pytest", {"1": "2"})
