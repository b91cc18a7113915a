"""Why a test did not pass, in the few lines that a person or a repairing model needs."""

import linecache
from typing import TYPE_CHECKING

from .report import missing_package

if TYPE_CHECKING:
    import pytest
import ast
from collections.abc import Iterator

from _pytest.assertion import rewrite

_LINES = 14
_CHARACTERS = 1500
_WORDLESS = {"Failed"}
"""Exceptions of pytest whose name adds nothing to their message."""


def describe(excinfo: "pytest.ExceptionInfo[BaseException]", filename: str) -> str:
    """The test's failing line, the exception with pytest's values, and the tool's own lines."""
    error = excinfo.value
    lines = []
    for entry in reversed(list(excinfo.traceback)):
        if str(entry.frame.code.raw.co_filename) == filename:
            number = entry.lineno + 1
            lines.append(f"line {number}: {linecache.getline(filename, number).strip()}")
            break
    text = _text(error)
    lines.append(
        text if excinfo.typename in _WORDLESS else f"{excinfo.typename}: {text}".rstrip(": ")
    )
    lines += [missing_package("code", error)] if missing_package("code", error) else []
    lines += _tool_lines(error)
    return shorten("\n".join(lines))


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


def _tool_lines(error: BaseException | None) -> list[str]:
    """Where in the tool the exception, or its cause, was raised."""
    seen = 0
    while error is not None and seen < 5:
        frames = error.__dict__.get("_sandbox_frames")
        if frames:
            return [f"in the tool: {line}" for line in frames]
        error = error.__cause__ or error.__context__
        seen += 1
    return []


def rewrite_asserts(tree: ast.Module, source: bytes, filename: str, config: object) -> None:
    """Rewrite the asserts of the tree in place, so that they show the values they compared."""
    rewrite.rewrite_asserts(tree, source, filename, config)  # type: ignore[arg-type]


def _without_location(node: ast.AST) -> Iterator[ast.AST]:
    """The node and its descendants that lack a location."""
    nodes = [node]
    for found in nodes:  # the list grows
        if "lineno" in found._attributes and getattr(found, "lineno", None) is None:
            yield found
        for name in found._fields:
            child = getattr(found, name, None)
            if isinstance(child, list):
                nodes += [part for part in child if isinstance(part, ast.AST)]
            elif isinstance(child, ast.AST) and child._fields:
                nodes.append(child)


rewrite.traverse_node = _without_location
