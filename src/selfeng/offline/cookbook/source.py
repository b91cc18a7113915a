"""The source of a recipe: its code and tests as files, and what their docstrings and asserts say of the tool."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selfeng.core.signature import Signature, parse_signature
from selfeng.core.spec import SpecExample
from selfeng.core.tool import ToolDraft
from selfeng.seeds import load_seeds

FOLDER = Path(__file__).parent / "code"
"""Holds `<name>.py` and `test_<name>.py` of each recipe that is not a seed."""
_MOST_EXAMPLES = 8
_SECTION = re.compile(r"^(Args|Returns|Raises):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """Code and tests, and what is written in them."""

    name: str
    code: str
    tests: str
    signature: Signature
    description: str
    returns: str
    errors: str
    examples: tuple[SpecExample, ...]

    def renamed(self, text: str, name: str) -> str:
        """Code or tests of this source for a tool of another name."""
        return re.sub(rf"\b{self.name}\b", name, text)


@cache
def read_source(name: str) -> Source:
    """The source of the recipe's tool: a seed where there is one of that name, else files of the cookbook."""
    seed = _seeds().get(name)
    code = seed.code if seed else (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    tests = seed.tests if seed else (FOLDER / f"test_{name}.py").read_text(encoding="utf-8")
    docstring = _docstring(code, name)
    sections = dict(_SECTION.findall(docstring + "\n"))
    return Source(
        name=name,
        code=code,
        tests=tests,
        signature=seed.signature if seed else parse_signature(code, name, _parameters(sections.get("Args", ""))),
        description=seed.description if seed else docstring.partition("\n")[0],
        returns=_sentence(sections.get("Returns", "")),
        errors=_sentence(sections.get("Raises", "")) or "None for arguments of the annotated types.",
        examples=tuple(_examples(tests, name))[:_MOST_EXAMPLES],
    )


def example_requests(name: str) -> tuple[str, ...]:
    """The example requests of a seed.

    Raises:
        KeyError: there is no seed of that name.
    """
    return _seeds()[name].example_requests


@cache
def _seeds() -> Mapping[str, ToolDraft]:
    return {seed.name: seed for seed in load_seeds()}


def _docstring(code: str, name: str) -> str:
    functions = (n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef) and n.name == name)
    return inspect.cleandoc(ast.get_docstring(next(functions)) or "")


def _parameters(section: str) -> dict[str, str]:
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: _sentence(text) for name, text in entries}


def _sentence(section: str) -> str:
    return " ".join(section.split())


def _examples(tests: str, name: str) -> Iterator[SpecExample]:
    """The calls that the tests assert whole values or errors of."""
    for node in ast.walk(ast.parse(tests)):
        match node:
            case ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=called)) as call, comparators=[value])) if called == name:
                yield SpecExample(call=ast.unparse(call), result=ast.unparse(_without_tolerance(value)))
            case ast.With(items=[ast.withitem(context_expr=ast.Call(args=[error]))], body=[ast.Expr(value=ast.Call() as call)]):
                yield SpecExample(call=ast.unparse(call), result=f"raises {ast.unparse(error)}")


def _without_tolerance(value: ast.expr) -> ast.expr:
    """`pytest.approx(1.5)` as `1.5`."""
    return value.args[0] if isinstance(value, ast.Call) and value.args else value
