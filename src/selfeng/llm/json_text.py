"""JSON values found in text: alone, in a fenced block, or amid prose."""

import json
import re
from collections.abc import Iterator
from typing import Any

_DECODER = json.JSONDecoder()
_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_START = re.compile(r"[{\[]")
_ATTEMPTS = 400
"""Opening brackets that are tried; each may cost a scan to the end of the text."""


def parse(text: str) -> Any:
    """The value that the whole text is; text that is JSON in a JSON string is parsed again.

    Raises:
        ValueError: the text is not JSON.
    """
    try:
        value = json.loads(text)
        return (
            json.loads(value) if isinstance(value, str) and _START.match(value.strip()) else value
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def find(text: str) -> list[Any]:
    """The outermost objects and arrays in the text, in order; thinking aloud before the reply is
    ignored.
    """
    text = _THINKING.sub("", text)
    try:
        whole = parse(text)
    except ValueError:
        return list(_embedded(text))
    return [whole] if isinstance(whole, dict | list) else []


def _embedded(text: str) -> Iterator[Any]:
    position = 0
    for _ in range(_ATTEMPTS):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value
