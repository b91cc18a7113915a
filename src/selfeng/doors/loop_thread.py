"""LoopThread: an event loop in a thread of its own, for programs that have none or run another."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import aclosing
from typing import Any, TypeVar

from selfeng.core.errors import RequestError

T = TypeVar("T")

_PATIENCE = 10.0
"""Seconds that what runs may take to end."""


class LoopThread:
    """Runs coroutines for any thread but its own. A program that ends without closing it is not
    kept alive.
    """

    def __init__(self, name: str) -> None:
        self._process, self._loop = os.getpid(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Block this thread until the work is done; what interrupts it here, such as Ctrl-C,
        cancels the work there.

        Raises: RequestError: it can't run for this thread, or not in this process.
        """
        try:
            self._check()
        except RequestError:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stream(self, pieces: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        """Give the pieces as they come. Leaving it ends the generator there, and waits until that
        has cleaned up.

        Raises: as `run`, and what the generator raises.
        """
        self._check()
        sent, news, ended = deque[T](), threading.Event(), threading.Event()

        async def pump() -> None:
            try:
                async with aclosing(pieces):
                    async for piece in pieces:
                        sent.append(piece)
                        news.set()
            finally:
                ended.set()
                news.set()

        future = asyncio.run_coroutine_threadsafe(pump(), self._loop)
        try:
            done = False
            while not done:
                news.wait()
                news.clear()
                done = ended.is_set()
                while sent:
                    yield sent.popleft()
            future.result()
        finally:
            future.cancel()
            ended.wait(_PATIENCE)

    def close(self) -> None:
        """Cancel what runs, and end the thread."""
        if self.closed or os.getpid() != self._process:
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(_PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)

    def _check(self) -> None:
        if os.getpid() != self._process:
            raise RequestError(
                "this was opened by another process, and a fork has none of its threads",
                "open it in the process that uses it",
            )
        if threading.current_thread() is self._thread:
            raise RequestError(
                "this is called on the engine's own thread, such as by a callback of a turn",
                "call it when the turn has ended, or from another thread",
            )
        if self.closed:
            raise RequestError("this is closed", "open another one")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
