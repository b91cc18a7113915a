"""Text of tools and models where people, logs and prompts see it: nothing in it acts or hides."""

import io
import json
import logging
import sys
from pathlib import Path

import pytest

from selfeng.core.logs import Line
from selfeng.core.visible import one_line, visible

CASES = json.loads((Path(__file__).parents[1] / "visible.json").read_text())


@pytest.mark.parametrize(
    ("text", "shown"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_acts_or_hides_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_pieces_of_a_text_are_shown_as_the_whole() -> None:
    text = "👨‍👩‍👧 a\u200db \u202e"
    shown = "".join(
        visible(piece, before) for piece, before in zip(text, ["", *text], strict=False)
    )
    assert shown == "👨‍👩‍👧 a\\u200db \\u202e"


def test_a_record_of_the_log_is_one_line() -> None:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(Line("%(levelname)s %(message)s"))
    try:
        raise ValueError("x\x1b[2J\ny")
    except ValueError:
        record = logging.LogRecord(
            "a", logging.ERROR, "f", 1, "tool %s said", ("\x1b]0;t\x07\nERROR forged\u202e",), None
        )
        handler.emit(record)
        record = logging.LogRecord("a", logging.ERROR, "f", 1, "broke", (), sys.exc_info())
        handler.emit(record)
    first, second, *traceback = out.getvalue().splitlines()
    assert (first, second) == (
        "ERROR tool \\x1b]0;t\\x07\\nERROR forged\\u202e said",
        "ERROR broke",
    )
    assert traceback[-2:] == ["ValueError: x\\x1b[2J", "y"]


def test_one_line_stays_one() -> None:
    assert one_line("a\tb\nc") == "a\\tb\\nc"
