"""The forgeries themselves; `make bench-forging` takes them through the whole chain."""

import ast
from collections import Counter

import pytest

from selfeng.core.signature import parse_signature
from tests.sandbox.forgeries import forgeries, forgery, honest


def test_each_has_a_name_of_its_own():
    names = Counter(case.name for case in [*forgeries(), *honest()])
    assert [name for name, times in names.items() if times > 1] == []


def test_a_wrong_tool_has_the_signature_and_the_docstring_of_the_right_one():
    differing = [
        case.name
        for case in forgeries()
        if case.right == case.wrong or _head(case.right, case) != _head(case.wrong, case)
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


def _head(code, case):
    functions = {n.name: n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.FunctionDef)}
    return parse_signature(code, case.function), ast.get_docstring(functions[case.function])
