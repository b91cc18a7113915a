"""Asking a person at a terminal in a way that can be cancelled."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def unwaited(ask: Callable[[], T]) -> T:
    """What `ask` returns or raises, called in a thread that nothing waits for: cancelling this, or
    Ctrl-C, ends it at once.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - the thread's edge: whoever awaits the answer gets it
            answer.set_exception(error)

    answer.set_running_or_notify_cancel()
    threading.Thread(target=run, name="question", daemon=True).start()
    return await asyncio.wrap_future(answer)
