"""Python source found in a model's reply."""

import ast
import re

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<code>.*?)(?:^(?P=fence)`*[ "
    r"\t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)


def python_code(reply: str) -> str | None:
    """The longest block of Python in a reply, or the whole reply where it is Python without a
    fence; None if there is none.

    A block that is marked as Python counts even if it doesn't parse: what is wrong with it is then
    said to the model.
    """
    blocks = [(m["language"].lower(), m["code"]) for m in _FENCE.finditer(reply)]
    python = [
        code
        for language, code in blocks
        if language in ("python", "py", "python3") or (not language and _parses(code))
    ]
    if python:
        return _tidy(max(python, key=len))
    return _tidy(reply) if not blocks and _parses(reply) and "def " in reply else None


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _tidy(code: str) -> str:
    return code.strip("\n").rstrip() + "\n"
