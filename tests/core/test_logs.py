"""The log: its level, and the turn that a line belongs to."""

import asyncio
import logging

from selfeng.core.logs import NAME, Line, log_to_stderr, logged_with


async def test_a_line_names_the_turn_of_the_task_that_logs_it():
    line = Line("%(name)s: %(message)s")
    record = logging.LogRecord("selfeng.turns", logging.ERROR, __file__, 1, "it\nfailed", (), None)

    async def log() -> str:
        return line.format(record)

    with logged_with("c1", "t1"):
        inside = asyncio.create_task(log())
    assert await inside == "selfeng.turns: [conversation c1 turn t1] it\\nfailed"
    assert await log() == "selfeng.turns: it\\nfailed"


def test_the_level_is_that_of_our_own_records():
    own = logging.getLogger(NAME)
    before = own.level
    try:
        log_to_stderr("DEBUG")
        assert logging.getLogger("selfeng.web.bridge").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger("httpx").isEnabledFor(logging.DEBUG)
    finally:
        own.setLevel(before)
