"""JSON values found in text: alone, in a fenced block, or amid prose."""

import ast
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from selfeng.core.result import is_deep

_DECODER = json.JSONDecoder()
_START = re.compile(r"[{\[]")
_ELIDED = re.compile(r"[:,\[{]\s*(?:\.\.\.|…|undefined\b|<[a-z ]+>)", re.IGNORECASE)
"""Where something stands for a value that was not written."""
_QUOTES = str.maketrans("“”„‟", '""""')
_BRACKETED = re.compile(r"(?P<json>[{\[].*[}\]])\s*(?:\Z|`|<|\n)", re.DOTALL)
_LONGEST = 200_000
"""Characters of a text that is mended."""
_LENIENT = partial(json.loads, strict=False)
_ATTEMPTS, _SCANNED = 400, 40_000_000
"""Opening brackets that are tried, each of which may cost a scan to the end of the text, and
characters of all these scans.
"""
_DEEPEST = 100
"""Lists and objects within each other."""


def loads(text: str | bytes) -> Any:
    """The value of a JSON text. Raises: ValueError: it is not JSON, or nested too deeply."""
    try:
        return _shallow(json.loads(text))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def parse(text: str) -> Any:
    """The value that the whole text is; text that is JSON in a JSON string is parsed again.

    Raises:
        ValueError: the text is not JSON, or nested too deeply.
    """
    value = loads(text)
    return loads(value) if isinstance(value, str) and _START.match(value.strip()) else value


def find(text: str) -> list[Any]:
    """The outermost objects and arrays in the text, in order."""
    try:
        value = parse(text)
    except ValueError:
        return list(_embedded(text))
    return [value] if isinstance(value, dict | list) else []


def mended(text: str) -> list[Any]:
    """The object or array in the text that is JSON but for slips, such as single quotes, a trailing
    comma, comments, raw newlines or the literals of Python.

    Nothing is made up: there is none if the text was cut off, has no brackets, or has `...` in the
    place of a value.
    """
    import json_repair  # only for replies with slips

    start = _START.search(text)
    match = _BRACKETED.match(text, start.start()) if start else None  # a later start finds no more
    if match is None or len(text) > _LONGEST or _ELIDED.search(match["json"]):
        return []
    plain = match["json"].translate(_QUOTES)
    for load, source in (
        (_LENIENT, match["json"]),
        (ast.literal_eval, match["json"]),
        (_LENIENT, plain),
        (json_repair.loads, match["json"]),
    ):
        try:
            value = _shallow(load(source))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return [value] if isinstance(value, dict | list) and value else []
    return []


def _embedded(text: str) -> Iterator[Any]:
    position = 0
    for _ in range(min(_ATTEMPTS, _SCANNED // (len(text) + 1) + 1)):
        if (start := _START.search(text, position)) is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
            _shallow(value)
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def _shallow(value: Any) -> Any:
    """The value. Raises: ValueError: it is nested too deeply for what recurses into it."""
    if is_deep(value, _DEEPEST):
        raise ValueError("it is nested too deeply")
    return value
