"""The log of a process: one line per record, which names its turn and conversation."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from selfeng.core.visible import one_line, visible

NAME = "selfeng"
"""The parent of all our loggers, including those of the page."""
_turn: ContextVar[str] = ContextVar("logged turn", default="")


class Line(logging.Formatter):
    """A record with its message on one line; only a traceback follows on lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the standard library's
        record.message = _turn.get() + one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:  # noqa: N802
        return visible(super().formatException(ei))  # type: ignore[arg-type]


@contextmanager
def logged_with(conversation_id: str, turn_id: str) -> Iterator[None]:
    """Lines that are logged inside, or by a task that is started inside, name the turn and its
    conversation.
    """
    before = _turn.set(f"[conversation {conversation_id} turn {turn_id}] ")
    try:
        yield
    finally:
        _turn.reset(before)


def log_to_stderr(level: str = "WARNING") -> None:
    """Write our own records from `level` up to stderr, and warnings of libraries. A second call
    changes the level only.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger(NAME).setLevel(level)
