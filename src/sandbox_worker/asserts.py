"""Why a test did not pass, in the few lines that a person or a repairing model needs."""

import ast
import linecache
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .report import missing_package

if TYPE_CHECKING:
    import pytest

_LINES = 14
_CHARACTERS = 1500
_RELATED = 20
"""Most exceptions in which lines of the tool are looked for; a cycle has no end."""
_WORDLESS = {"Failed"}
"""Exceptions of pytest whose name adds nothing to their message."""


def describe(excinfo: "pytest.ExceptionInfo[BaseException]", filename: str) -> str:
    """The test's failing line, the exception with pytest's values, and the tool's own lines."""
    error = excinfo.value
    lines = []
    if number := failed_lines(error, filename)[-1:]:
        lines.append(f"line {number[0]}: {linecache.getline(filename, number[0]).strip()}")
    for member in _members(error):
        name, text = type(member).__name__, _text(member)
        lines.append(text if name in _WORDLESS else f"{name}: {text}".rstrip(": "))
    if isinstance(error, BaseExceptionGroup):
        lines.append(f"in a group: {_text(error)}")
    lines += [missing_package("code", error)] if missing_package("code", error) else []
    lines += _tool_lines(error)
    return shorten("\n".join(lines))


def failed_lines(error: BaseException, filename: str) -> list[int]:
    """The lines of a file through which an exception came, the outermost first."""
    return [
        number
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == filename
    ]


def shorten(text: str) -> str:
    """A few lines and characters of the text at most, from its start and its end."""
    lines = text.strip().splitlines()
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 4], f"... {len(lines) - _LINES + 1} more lines ...", *lines[-3:]]
    text = "\n".join(lines)
    if len(text) > _CHARACTERS:
        text = f"{text[: _CHARACTERS - 400]} ... {text[-380:]}"
    return text


def _text(error: BaseException) -> str:
    if type(error).__name__ == "FixtureLookupError":
        return f"fixture {getattr(error, 'argname', '')!r} not found"
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001 - `__str__` of an exception class of the suite may fail
        return f"<no text: {type(broken).__name__}>"


def _members(error: BaseException, depth: int = 5) -> list[BaseException]:
    """The exceptions of a group, and of groups in it; any other exception alone."""
    if not isinstance(error, BaseExceptionGroup) or depth == 0:
        return [error]
    return [inner for member in error.exceptions for inner in _members(member, depth - 1)]


def _tool_lines(error: BaseException) -> list[str]:
    """Where in the tool the exception, one of its group, or a cause was raised."""
    related = _members(error)
    for exception in related:  # the list grows
        if frames := exception.__dict__.get("_sandbox_frames"):
            return [f"in the tool: {line}" for line in frames]
        cause = exception.__cause__ or exception.__context__
        related += _members(cause) if cause and len(related) < _RELATED else []
    return []


class Asserts:
    """Rewrites the asserts of a suite, so that a failed one shows the values that it looked at.

    pytest's own rewriting takes most of the time of a short suite, and can't be used from outside.
    """

    def __init__(self, config: "pytest.Config") -> None:
        self._config = config
        self._rewritten: list[_Parts] = []

    def rewrite(self, tree: ast.Module) -> None:
        """Let each assert of the tree keep its operands in variables, and explain itself by
        `EXPLAIN`, which has to be a name of the module.
        """
        self._rewritten = []
        for node in [n for n in ast.walk(tree) if isinstance(n, ast.Assert)]:
            parts = _taken_apart(node.test)
            number = len(self._rewritten)
            named_operands = [
                ast.NamedExpr(ast.Name(f"@{number}.{place}", ast.Store()), operand)
                for place, operand in enumerate(parts.operands)
            ]
            words = [node.msg] if node.msg else []
            test = ast.copy_location(parts.rebuilt(named_operands), node.test)
            arguments = [ast.Constant(number), *words]
            node.msg = ast.copy_location(
                ast.Call(ast.Name(EXPLAIN, ast.Load()), arguments, []), node.test
            )
            node.test = test
            self._rewritten.append(parts)
        ast.fix_missing_locations(tree)

    def explain(self, number: int, *words: object) -> str:
        """Why an assert failed, in its frame: its own words, its test with values in place of
        operands, and where these come from.
        """
        parts, values = self._rewritten[number], sys._getframe(1).f_locals
        names = [f"@{number}.{place}" for place in range(len(parts.operands))]
        sources = [ast.unparse(operand) for operand in parts.operands]
        value_texts = [
            _short_repr(values[name]) if name in values else source
            for name, source in zip(names, sources, strict=True)
        ]
        text = parts.words(value_texts)
        if parts.operator:
            left, right = (values[name] for name in names)
            compared = self._config.hook.pytest_assertrepr_compare(
                config=self._config, op=parts.operator, left=left, right=right
            )
            text = next(("\n  ".join(lines) for lines in compared if lines), text)
        lines = [*map(str, words), f"assert {text}"]
        lines += [
            f" +  where {value} = {source}"
            for operand, value, source in zip(parts.operands, value_texts, sources, strict=True)
            if not isinstance(operand, _PLAIN) and value != source
        ]
        return "\n".join(lines)


EXPLAIN = "@explain"
"""No suite can use the name."""
_PLAIN = (ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp)
_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_SHOWN = 240
"""Characters of a value."""


class _Parts(NamedTuple):
    """The test of an assert, taken apart."""

    operands: Sequence[ast.expr]
    """The expressions whose values are shown."""
    rebuilt: Callable[[Sequence[ast.expr]], ast.expr]
    """The test with others in their place."""
    words: Callable[[Sequence[str]], str]
    """The test with their values."""
    operator: str = ""
    """Of a single comparison."""


def _taken_apart(test: ast.expr) -> _Parts:
    match test:
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            symbols = [_SYMBOLS[type(op)] for op in ops]
            return _Parts(
                [left, *comparators],
                lambda operands: ast.Compare(operands[0], ops, [*operands[1:]]),
                lambda texts: " ".join(
                    [texts[0], *(f"{op} {v}" for op, v in zip(symbols, texts[1:], strict=True))]
                ),
                symbols[0] if len(symbols) == 1 else "",
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _Parts(
                [operand],
                lambda operands: ast.UnaryOp(ast.Not(), operands[0]),
                lambda texts: f"not {texts[0]}",
            )
        case ast.Call(func=func, args=[_, *_] as args, keywords=[]) if not any(
            isinstance(arg, ast.Starred | ast.GeneratorExp) for arg in args
        ):
            return _Parts(
                args,
                lambda operands: ast.Call(func, [*operands], []),
                lambda texts: f"{ast.unparse(func)}({', '.join(texts)})",
            )
    return _Parts([test], lambda operands: operands[0], lambda texts: texts[0])


def _short_repr(value: object) -> str:
    """A value in a line, cut to `_SHOWN` characters."""
    try:
        text = value.__name__ if isinstance(value, type) else repr(value)
    except Exception:  # noqa: BLE001 - a class of the suite may fail to show itself
        text = f"<{type(value).__name__} object>"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}...{text[-_SHOWN // 2 :]}"
