"""Joins suites into one, in which each keeps its own helpers, fixtures, constants, imports, and the
state in them.

If two suites use one name for different things, the later one's is renamed, with all references to
it. An autouse fixture becomes one that the tests of its suite request.
"""

import ast
import builtins
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from selfeng.synthesis.suite.scopes import Renaming, assigned_fixtures, bound, top_fixtures
from selfeng.synthesis.suite.source import FUNCTIONS, Function, Suite

_OF_PYTEST = {
    *(
        "capsys",
        "capsysbinary",
        "capfd",
        "capfdbinary",
        "caplog",
        "recwarn",
        "request",
        "tmp_path",
        "tmp_path_factory",
        "tmpdir",
    ),
    *(
        "tmpdir_factory",
        "monkeypatch",
        "cache",
        "doctest_namespace",
        "pytestconfig",
        "record_property",
        "testdir",
        "pytester",
    ),
}
_OUTSIDE = {*dir(builtins), *_OF_PYTEST}


class Joined(NamedTuple):
    source: str
    names: tuple[Mapping[str, str], ...]
    """For each suite: the new names of its module-level tests, functions and classes."""


def join(*suites: str, open_first: bool = False) -> Joined:
    """Join several suites. Definitions that, with all that they use, equal those of an earlier
    suite are kept once.

    `open_first`: autouse fixtures of the first suite apply to the tests of the others too.
    """
    parts_by_suite = [_Part(source) if source.strip() else None for source in suites]
    parts = [part for part in parts_by_suite if part is not None]
    for number, part in enumerate(parts):
        part.leave_out(parts[:number])
    filled = [part for part in parts if not part.empty]
    if len(filled) > 1:
        for part in filled:
            part.look_outside()
        for number, part in enumerate(filled):
            part.rename(filled[:number], filled[number + 1 :])
            if number or not open_first:
                part.keep_to_itself()
    features = sorted(
        {feature for part in filled for feature in part.future()} if len(filled) > 1 else ()
    )
    head = f"from __future__ import {', '.join(features)}\n\n" if features else ""
    body = "\n\n\n".join(part.text().strip("\n") for part in filled)
    return Joined(f"{head}{body}\n", tuple(part.names if part else {} for part in parts_by_suite))


def joined(*suites: str) -> str:
    """The source that `join` makes."""
    return join(*suites).source


class _Part:
    """One of the suites; its tree is changed, and unchanged parts keep their formatting."""

    def __init__(self, source: str) -> None:
        self.suite = Suite(source, "")
        self._source, self._lines, self._statements = (
            source,
            source.splitlines(),
            list(self.suite.module.body),
        )
        self._dumps = {id(node): ast.dump(node) for node in self._statements}
        self._spans = [
            (_first_line(node) - 1, node.end_lineno or node.lineno) for node in self._statements
        ]
        self._removed_ids: set[int] = set()
        self._imports_pytest = False
        self.bound: dict[str, set[str]] = {}
        """Module-level bindings: by name, the imports that bind it, "" for anything else."""
        for name, imported in bound(self._statements):
            self.bound.setdefault(name, set()).add(imported)
        for node in self.suite.nodes:
            if isinstance(node, ast.Global):
                self.bound.update({name: {""} for name in node.names})
        self._fixtures = top_fixtures(self.suite)
        self.fixtures = {*self._fixtures, *assigned_fixtures(self.suite)}
        self.owned = {*self.bound, *self.fixtures}
        self.outer, self.words = set[str](), set[str]()
        self.names: dict[str, str] = {}
        self.tests = {id(t.owner or t.node): (t.owner or t.node) for t in self.suite.tests}

    def look_outside(self) -> None:
        """Collect the names that it uses from outside, and all its words, before anything is
        renamed.
        """
        fresh = Suite(self._source, "")
        looked = Renaming(fresh, {}, ())
        looked.visit(fresh.module)
        self.outer, self.words = looked.outer - self.owned, set(_words(self.suite.module))

    @property
    def empty(self) -> bool:
        """Whether no test of the suite is left."""
        return not self._statements or (bool(self.tests) and self.tests.keys() <= self._removed_ids)

    def leave_out(self, earlier: Collection["_Part"]) -> None:
        """Leave out the tests that, together with all that they use, are also in an earlier
        part.
        """
        for node in self.tests.values():
            if any(
                node.name in part.owned and part.meaning(node.name) == self.meaning(node.name)
                for part in earlier
            ):
                self._removed_ids.add(id(node))
                self.names[node.name] = node.name

    def meaning(self, name: str) -> str:
        """All statements that a name depends on."""
        dumps, waiting = dict[int, str](), [name, *self._for_all()]
        while waiting:
            dependency = waiting.pop()
            for node in self._statements:
                if id(node) not in dumps and (
                    dependency in dict(bound([node])) or node is self._fixtures.get(dependency)
                ):
                    dumps[id(node)] = self._dumps[id(node)]
                    waiting += self.owned.intersection(_words(node))
        return "\n".join(sorted(dumps.values()))

    def _for_all(self) -> dict[str, Function]:
        """The module-level autouse fixtures."""
        return {
            name: f
            for name, f in self._fixtures.items()
            if (mark := self.suite.fixture_mark(f)) and _autouse(mark)
        }

    def rename(self, earlier: Collection["_Part"], later: Collection["_Part"]) -> None:
        """Rename what has the same name as something else in the other parts."""
        used_names = {
            word
            for part in (self, *earlier, *later)
            for word in (*part.words, *part.names.values())
        }
        names: dict[str, str] = {}
        for name in sorted(self.owned):
            namesakes = [part for part in earlier if name in part.owned]
            clash = any(not self._imports_the_same(part, name) for part in namesakes)
            hides = name in _OUTSIDE and any(name in part.outer for part in (*earlier, *later))
            if (clash or hides) and self.names.get(name) != name:
                names[name] = _free(name, used_names)
                used_names.add(names[name])
        if names:
            Renaming(self.suite, names, self.fixtures).visit(self.suite.module)
        self.names |= {name: names.get(name, name) for name in self.owned}

    def _imports_the_same(self, part: "_Part", name: str) -> bool:
        own_imports, part_imports = self.bound.get(name, {""}), part.bound.get(name, {""})
        return own_imports == part_imports and "" not in own_imports

    def keep_to_itself(self) -> None:
        """Make the tests request the fixtures that were autouse."""
        marks = []
        for fixture in self._for_all().values():
            mark = self.suite.fixture_mark(fixture)
            assert isinstance(mark, ast.Call)
            mark.keywords = [k for k in mark.keywords if k.arg != "autouse"]
            fixture_name = next(
                (
                    str(k.value.value)
                    for k in mark.keywords
                    if k.arg == "name" and isinstance(k.value, ast.Constant)
                ),
                fixture.name,
            )
            marks.append(fixture_name)
        if not marks:
            return
        pytest = next(
            (name for name, meaning in self.suite.meanings.items() if meaning == "pytest"), ""
        )
        pytest, self._imports_pytest = self.names.get(pytest, pytest) or "pytest", not pytest
        for node in self.tests.values():
            asking = ast.parse(
                f"{pytest}.mark.usefixtures({', '.join(map(repr, marks))})", mode="eval"
            ).body
            node.decorator_list.insert(0, asking)

    def future(self) -> Iterator[str]:
        """The features that the suite imports from `__future__`, which have to come first."""
        for node in self._statements:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                self._removed_ids.add(id(node))
                yield from (alias.name for alias in node.names)

    def text(self) -> str:
        changed = {
            id(n)
            for n in self._statements
            if id(n) in self._removed_ids or ast.dump(n) != self._dumps[id(n)]
        }
        head = ["import pytest"] if self._imports_pytest else []
        if changed and any(
            end > start for (_, end), (start, _) in zip(self._spans, self._spans[1:], strict=False)
        ):
            return "\n".join(
                [
                    *head,
                    *(ast.unparse(n) for n in self._statements if id(n) not in self._removed_ids),
                ]
            )
        lines = list(self._lines)
        for node, (start, end) in reversed(list(zip(self._statements, self._spans, strict=True))):
            if id(node) in self._removed_ids:
                blank = sum(1 for _ in takewhile(lambda line: not line.strip(), lines[end:]))
                del lines[start : end + blank]
            elif id(node) in changed:
                lines[start:end] = ast.unparse(node).splitlines()
        return "\n".join([*head, *lines])


def _autouse(mark: ast.expr) -> bool:
    values = (
        [k.value for k in mark.keywords if k.arg == "autouse"] if isinstance(mark, ast.Call) else []
    )
    return bool(values) and not (isinstance(values[0], ast.Constant) and not values[0].value)


def _words(node: ast.AST) -> Iterator[str]:
    """Every name that a statement may refer to."""
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name
            case ast.alias(name=name, asname=asname):
                yield from (asname or name).split(".")
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.Constant(value=str(text)):
                yield from (part.strip() for part in text.split(","))


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def _free(name: str, used_names: Collection[str]) -> str:
    return next(
        new
        for number in range(2, len(used_names) + 3)
        if (new := f"{name}_{number}") not in used_names
    )
