"""Asking a person at a terminal in a way that can be cancelled."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from selfeng.core.daemon_threads import DaemonThreads

T = TypeVar("T")


async def unwaited(ask: Callable[[], T]) -> T:
    """What `ask` returns or raises, called in a thread that nothing waits for: cancelling this, or
    Ctrl-C, ends it at once.
    """
    thread = DaemonThreads(1, "question")
    answer = thread.submit(ask)
    thread.close(0)  # after the answer
    return await asyncio.wrap_future(answer)
