"""Results that a comparison can't refuse: NaN, and lists without elements where all elements are looked at.

A test that passes on one says nothing of the tool, unless its source has such a result in mind.
"""

import ast
import re
from collections.abc import Collection

_NAN = re.compile(r"(?i)(\b|_|is|not)nan(\b|_|mean|sum|min|max|std|median)|(is|not)na\b|(is|not)null|isfinite")
_ALL = re.compile(r"\ball\(|allclose|isclose|assert_(all|array|almost|equal)")
_EMPTY = re.compile(r"\[\s*\]|\blen\(|shape|size|empty|\bnot\b")


def doubt_of(returned: Collection[str], tests: str, test: str) -> str:
    """Why a test that passed does not count, by what the tool returned in it (`proxy.Returned`); "" if it does.

    `test` is its name, "" while the suite `tests` is loaded.
    """
    if "nan" in returned and not _NAN.search(_source(tests, test)):
        return "the tool returned NaN, and no comparison with it fails; where NaN is right, say so with `math.isnan`"
    if set(returned) == {"empty"} and _ALL.search(source := _source(tests, test)) and not _EMPTY.search(source):
        return "the tool returned a list without elements, and the test looks at elements only; compare its length as well"
    return ""


def _source(tests: str, test: str) -> str:
    """The suite without the other tests."""
    lines = tests.splitlines()
    own = test.partition("[")[0].rpartition("::")[2]
    for node in ast.walk(ast.parse(tests)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and node.name != own:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * ((node.end_lineno or first) - first + 1)
    return "\n".join(lines)
