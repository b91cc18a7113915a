"""Which names tests can have of a tool: those of its source, read on the host."""

import pytest

from selfeng.sandboxes.job_sources import exported_names


@pytest.mark.parametrize(
    ("source", "names", "public"),
    [
        (
            "def f(n): return n\nclass A: x = 1\nLIMIT = 3\n_own = 1",
            ["A", "LIMIT", "_own", "f"],
            ["A", "LIMIT", "f"],
        ),
        (
            "import os.path, json as j\nfrom math import floor\nfrom math import *",
            ["floor", "j", "os"],
            ["floor", "j", "os"],
        ),
        (
            "if True:\n    a = 1\nelse:\n    b, *c = 1, 2\nfor d in []: pass\nwith x as e: (g := "
            "1)",
            list("abcdeg"),
            list("abcdeg"),
        ),
        ("def f():\n    global LATER\n    LATER = inner = 1", ["LATER", "f"], ["LATER", "f"]),
        (
            "x = [n for n in range(3)]\nmatch x:\n    case [y, *z]: pass\n    case {'a': 1, **w}: "
            "pass",
            list("wxyz"),
            list("wxyz"),
        ),
        ("__all__ = ['f', 'abs']\ndef f(): ...\ndef g(): ...", ["__all__", "f", "g"], ["f"]),
        ("globals()['approx'] = print\ndef __getattr__(name): return print", ["__getattr__"], []),
        ("def f(:", [], []),
        ("x = " + "(" * 1000, [], []),
    ],
)
def test_names_are_those_of_the_source(source: str, names: list[str], public: list[str]) -> None:
    assert exported_names(source) == (tuple(names), tuple(public))
