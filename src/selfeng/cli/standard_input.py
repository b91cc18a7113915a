"""Standard input: a request, or what a request is about."""

import io
import json
import os
import select
import stat
import sys
from collections.abc import Iterator

from readcells import delimiter_of, encoding_of
from selfeng.cli.command import say
from selfeng.core.errors import RequestError
from selfeng.core.files import LARGE, MB, PIECE, File, FileLimits, LargeFiles
from selfeng.core.pictures import picture_type

_PATIENCE = 2.0
"""Seconds of silence after which the command prints that it waits for input."""
_LONGEST_LINE = 1_000
"""Characters of a line that is read as a part of the request."""


def is_piped() -> bool:
    """Whether a program or a file is at the other end; a terminal and /dev/null are not."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, ValueError, OSError):  # there is none, or it is closed
        return isinstance(getattr(sys.stdin, "buffer", None), io.BytesIO)
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def read_request() -> str:
    """All of it, as the request. Raises: RequestError: it is not text."""
    if (text := _text(read_bytes())) is None:
        raise RequestError(
            "standard input is not text",
            "give the request as an argument, and standard input becomes a file of it",
        )
    return text.strip()


def with_input(
    request: str, limits: FileLimits, large_files: LargeFiles
) -> tuple[str, tuple[File, ...]]:
    """The request with what is on standard input: one line becomes a part of the request, and
    anything else a file of it, named after its form.

    Raises: RequestError: it is larger than files may be.
    """
    begin = read_bytes(LARGE)
    if (line := _line(begin)) is not None:
        return "\n\n".join(filter(None, [request, line])), ()
    lines = begin if len(begin) < LARGE else begin[: begin.rfind(b"\n") + 1] or begin
    file = large_files.take(f"stdin.{_ending(lines)}", _pieces(begin, limits.each or limits.size))
    return request, (file,)


def _pieces(begin: bytes, most: int) -> Iterator[bytes]:
    """Standard input, of which `begin` is read. Raises: RequestError: it has more bytes."""
    size, piece = 0, begin
    while piece:
        if (size := size + len(piece)) > most:
            raise RequestError(
                f"standard input has more than {most / MB:g} MB",
                "give it less, or raise FILE_MAX_MB",
            )
        yield piece
        piece = sys.stdin.buffer.read(PIECE)


def read_bytes(size: int = -1) -> bytes:
    """Up to `size` bytes of it, all by default; a person learns what the command waits for."""
    try:
        ready = select.select([sys.stdin.buffer], [], [], _PATIENCE)[0]
    except (ValueError, OSError):  # no file of the system, but a program's own
        ready = [sys.stdin]
    if not ready:
        say("Reading standard input; end it with Ctrl-D, or start the command with </dev/null.")
    return sys.stdin.buffer.read(size)


def _text(content: bytes) -> str | None:
    """The text in the encoding that a profile of the file would name; None if it is not text."""
    if encoding := encoding_of(content):
        return content.decode(encoding)
    return None if content else ""


def _line(content: bytes) -> str | None:
    text = _text(content)
    if text is None or picture_type(content):
        return None
    text = text.strip()
    return text if not {"\n", "\r"} & set(text) and len(text) <= _LONGEST_LINE else None


def _ending(content: bytes) -> str:
    if picture := picture_type(content):
        return picture.partition("/")[2].partition("+")[0]
    if (text := _text(content)) is None:
        return "bin"
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
        except ValueError:
            pass
        else:
            return "json"
    return {"": "txt", "\t": "tsv"}.get(delimiter_of(text, ""), "csv")
