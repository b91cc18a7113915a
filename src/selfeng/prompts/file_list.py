"""The files of a turn as a prompt shows them: names, sizes and first lines."""

import codecs
from collections.abc import Iterable
from typing import Any

from selfeng.core.files import File
from selfeng.core.turn import Turn
from selfeng.prompts import json_lines

_HEAD = 500
"""Bytes of a text file that are shown."""
_LINES = 5


def listed(turn: Turn) -> str:
    """One line of JSON for each file that came with the request, or before it; "" if there is none."""
    earlier = [{"name": r.name, "size": r.size, "from": "earlier in the conversation"} for r in turn.earlier.references]
    return json_lines([*map(_described, turn.files), *earlier])


def described(files: Iterable[File]) -> str:
    """One line of JSON for each file; "" if there is none."""
    return json_lines(map(_described, files))


def _described(file: File) -> dict[str, Any]:
    head = _head(file.content)
    return {"name": file.name, "size": len(file.content)} | ({"begins": head} if head is not None else {})


def _head(content: bytes) -> str | None:
    """The first lines, if this is a text; a character that is cut off at the end is left out."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content[:_HEAD], len(content) <= _HEAD)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else "".join(text.splitlines(keepends=True)[:_LINES])
