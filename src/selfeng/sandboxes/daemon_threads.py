"""Threads for calls that may block for ever: neither who closes them nor the end of the process
waits for such a call.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
_Call = Callable[[], None]


class DaemonThreads:
    """A number of threads that begin when they are needed. Calls wait for one in the order in which
    they came.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._unfinished: set[_Call] = set()
        self._threads: list[threading.Thread] = []

    async def run(self, function: Callable[[], T]) -> T:
        """What the function returns or raises. A call that has begun goes on when the waiting task
        is cancelled.
        """
        return await asyncio.wrap_future(self.submit(function))

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have the function called; from any thread, also after `close`."""
        outcome: Future[T] = Future()

        def call() -> None:
            if outcome.set_running_or_notify_cancel():
                try:
                    outcome.set_result(function())
                except BaseException as error:  # noqa: BLE001 - the edge of the thread: who waits gets it
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
        """End the threads, after the calls that were made; whether that was done within so many
        seconds. Blocking.
        """
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
