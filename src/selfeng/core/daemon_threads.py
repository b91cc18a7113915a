"""Threads for calls that may delay the loop; DaemonThreads are for those that may block forever:
neither `close` nor the end of the process waits for them indefinitely.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Call = Callable[[], None]
_SMALL = 16_000


async def call_by_size(size: int, function: Callable[..., T], *args: Any) -> T:
    """Call a function that works on so many bytes or characters: in a thread if that may delay the
    loop. The way to a thread and back takes longer than most calls.
    """
    return function(*args) if size < _SMALL else await asyncio.to_thread(function, *args)


class DaemonThreads:
    """At most a given number of threads, started as needed. Calls are served in order."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._unfinished: set[_Call] = set()
        self._threads: list[threading.Thread] = []

    async def run(self, function: Callable[[], T]) -> T:
        """Call the function in a thread, and return its value or raise its error. A call that has
        begun continues after cancellation.
        """
        return await asyncio.wrap_future(self.submit(function))

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Call the function in a thread, for the same person. Callable from any thread, also after
        `close`.
        """
        outcome: Future[T] = Future()
        context = copy_context()

        def call() -> None:
            if outcome.set_running_or_notify_cancel():
                try:
                    outcome.set_result(context.run(function))
                except BaseException as error:  # noqa: BLE001 - a thread's boundary: the caller gets it
                    outcome.set_exception(error)

        with self._lock:
            self._calls.put(call)
            self._unfinished.add(call)
            if len(self._threads) < min(self._most, len(self._unfinished)):
                thread = threading.Thread(
                    target=self._run, args=(self._calls,), name=self._name, daemon=True
                )
                self._threads.append(thread)
                thread.start()
        return outcome

    def close(self, seconds: float) -> bool:
        """End the threads after pending calls; whether that took at most `seconds`. Blocking."""
        with self._lock:
            threads, self._threads = self._threads, []
            calls, self._calls = self._calls, SimpleQueue()
            self._unfinished = set()
        for _ in threads:
            calls.put(None)
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _run(self, calls: "SimpleQueue[_Call | None]") -> None:
        while (call := calls.get()) is not None:
            call()
            with self._lock:
                self._unfinished.discard(call)


async def unwaited(ask: Callable[[], T]) -> T:
    """Call `ask` in a thread that nothing waits for, and return its value or raise its error:
    cancelling this, or Ctrl-C, ends it at once.
    """
    thread = DaemonThreads(1, "question")
    answer = thread.submit(ask)
    thread.close(0)  # after the answer
    return await asyncio.wrap_future(answer)
