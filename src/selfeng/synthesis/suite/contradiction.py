"""Pairs of assertions that no function can fulfil: the same call with two different values, or with
a value and an error.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from selfeng.synthesis.suite.flow import Flow, Kind
from selfeng.synthesis.suite.source import Suite, Test, shown
from selfeng.synthesis.suite.steering import parametrized

_ROWS = 500
"""Maximum number of cases examined of a parametrized test."""
_STATEMENTS = 20
"""Maximum number of its statements examined in each case."""
_UNKNOWN = object()


@dataclass(frozen=True)
class Claim:
    """What a test says about one call."""

    test: str
    call: str
    what: Literal["equals", "is true", "is false", "raises"]
    value: Any
    shown: str

    def excludes(self, other: "Claim") -> bool:
        match self.what, other.what:
            case "equals", "equals":
                return not _equal(self.value, other.value)
            case "is true", "is false":
                return True
            case "is true", "equals":
                return not other.value
            case "is false", "equals":
                return bool(other.value)
            case "raises", "equals" | "is true" | "is false":
                return True
        return False


def problems(suite: Suite, flow: Flow) -> Iterator[str]:
    known: dict[str, dict[str, Claim]] = {}
    for test in suite.tests:
        for claim in _claims(suite, flow, test):
            for other in known.setdefault(claim.call, {}).values():
                if claim.excludes(other) or other.excludes(claim):
                    where = (
                        f"{other.test} and {claim.test} contradict"
                        if other.test != claim.test
                        else f"{claim.test} contradicts itself"
                    )
                    yield (
                        f"{where}: `{claim.call}` {other.shown}, and {claim.shown}; only one "
                        "can be right"
                    )
            known[claim.call].setdefault(f"{claim.what} {claim.value!r}", claim)


def _claims(suite: Suite, flow: Flow, test: Test) -> Iterator[Claim]:
    """The claims of a test's top-level statements, for each of its cases."""
    for case in _cases(suite, test):
        reader = _Reader(suite, flow, test, case)
        for statement in test.node.body[: _STATEMENTS if case else None]:
            yield from reader.claims(statement)


def _cases(suite: Suite, test: Test) -> list[dict[str, ast.expr]]:
    """The values of a parametrized test by name; one empty case for a test without parameters, or
    with values that are computed.
    """
    marks = suite.parametrizations(test)
    if len(marks) != 1 or len(marks[0].args) < 2:
        return [{}]
    names, rows = parametrized(marks[0].args[0]), marks[0].args[1]
    if not names or not isinstance(rows, ast.List | ast.Tuple):
        return [{}]
    cases = []
    for row in rows.elts[:_ROWS]:
        values = (
            row.args
            if isinstance(row, ast.Call) and suite.dotted(row.func) == "pytest.param"
            else None
        )
        if values is None:
            values = row.elts if len(names) > 1 and isinstance(row, ast.Tuple | ast.List) else [row]
        if len(values) == len(names):
            cases.append(dict(zip(names, values, strict=True)))
    return cases or [{}]


class _Reader:
    def __init__(self, suite: Suite, flow: Flow, test: Test, case: dict[str, ast.expr]) -> None:
        self._suite, self._flow, self._test, self._case = suite, flow, test, case

    def claims(self, node: ast.stmt) -> Iterator[Claim]:
        match node:
            case ast.Assert(
                test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])
            ):
                for call, value in ((left, right), (right, left)):
                    known = self._literal(value)
                    if (key := self._call(call)) and known is not _UNKNOWN:
                        yield self._claim(key, "equals", known, f"is {known!r}")
            case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=operand)) if key := self._call(
                operand
            ):
                yield self._claim(key, "is false", None, "is false")
            case ast.Assert(test=test) if key := self._call(test):
                yield self._claim(key, "is true", None, "is true")
            case ast.With(
                items=[ast.withitem(context_expr=ast.Call(func=func, args=[error, *_]))],
                body=[ast.Expr(value=call)],
            ):
                if self._suite.dotted(func) == "pytest.raises" and (key := self._call(call)):
                    yield self._claim(key, "raises", None, f"raises {shown(error)}")

    def _claim(
        self,
        call: str,
        what: Literal["equals", "is true", "is false", "raises"],
        value: object,
        words: str,
    ) -> Claim:
        return Claim(
            self._test.name, call, what, value, words if len(words) < 80 else words[:79] + "…"
        )

    def _call(self, node: ast.expr) -> str:
        """A call of the tool with literals, written one way; "" for anything else."""
        if (
            not isinstance(node, ast.Call)
            or not self._is_tool(node.func)
            or any(k.arg is None for k in node.keywords)
        ):
            return ""
        positional = [self._literal(a) for a in node.args]
        named = sorted((str(k.arg), self._literal(k.value)) for k in node.keywords)
        if any(v is _UNKNOWN for v in (*positional, *(v for _, v in named))):
            return ""
        return f"{self._suite.tool}({', '.join([*map(repr, positional), *(f'{name}={value!r}' for name, value in named)])})"  # noqa: E501

    def _is_tool(self, func: ast.expr) -> bool:
        """The function under test itself, not another one of its module."""
        own = self._suite.dotted(func) in (f"{self._suite.tool}.{self._suite.tool}", "")
        name = (
            func.attr
            if isinstance(func, ast.Attribute)
            else func.id
            if isinstance(func, ast.Name)
            else ""
        )
        return (
            own
            and self._flow.kind(func) is Kind.TOOL
            and (bool(self._suite.dotted(func)) or name == self._suite.tool)
        )

    def _literal(self, node: ast.expr) -> Any:
        try:
            return ast.literal_eval(
                self._case.get(node.id, node) if isinstance(node, ast.Name) else node
            )
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return _UNKNOWN


def _equal(one: object, other: object) -> bool:
    return bool(one == other)
