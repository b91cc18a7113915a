"""The log of a process: one line per record, which names its turn and conversation."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from selfeng.core.visible import one_line, visible

if TYPE_CHECKING:
    from selfeng.core.events import Event

NAME = "selfeng"
"""The parent of all our loggers, including those of the page."""
_turn: ContextVar[str] = ContextVar("logged turn", default="")
_turns = logging.getLogger(f"{NAME}.turns")
_FACTS = (
    "node", "symbol", "agent", "recipient", "runs", "tool", "server", "part", "place", "attempt",
    "run", "epoch", "action", "against", "state", "decision", "then", "before", "after", "success",
    "exit_code", "where", "outcome", "kind", "cause", "confidence", "usage", "seconds",
)  # fmt: skip
"""Fields of events that are logged, in this order: names of the engine's parts, tools and agents,
and numbers. All others may hold what people, models or tools say.
"""
_FREQUENT = {
    "answer_token", "thought_aloud", "execution_progress", "budget_spent", "test_finished",
    "suite_repeated",
}  # fmt: skip
"""Types of events that only DEBUG logs, like the pieces of a step that streams."""


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


def log_event(event: "Event") -> None:
    """Log what happens in a turn, without what people, models or tools say."""
    frequent = event.type in _FREQUENT or getattr(event, "state", "") == "streaming"
    level = logging.DEBUG if frequent else logging.INFO
    if _turns.isEnabledFor(level):
        names = ("step", *_FACTS) if event.type == "synthesis_step" else _FACTS
        facts = [(name, getattr(event, name, None)) for name in names]
        fact_texts = [
            f"{name}={round(value, 2) if isinstance(value, float) else value}"
            for name, value in facts
            if value not in (None, "") and (value or name != "seconds")
        ]
        _turns.log(level, "%s", " ".join([event.type, *fact_texts]))


def log_to_stderr(level: str = "WARNING") -> None:
    """Write our own records from `level` up to stderr, and warnings of libraries. A second call
    changes the level only.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger(NAME).setLevel(level)
