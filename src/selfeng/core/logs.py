"""The log of a process: one record, one line, whatever the record is about has written into it."""

import logging

from selfeng.core.visible import one_line, visible


class Line(logging.Formatter):
    """A record whose message stays in its line; only a traceback follows on lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is the standard library's
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:  # noqa: N802
        return visible(super().formatException(ei))  # type: ignore[arg-type]


def log_to_stderr() -> None:
    """Write warnings and worse to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(Line("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
