"""The bridge between the server's threads and the engine's asyncio loop; the only place where they
meet.

Coroutines go in through `run_coroutine_threadsafe`. Results and records come out as actions in one
queue, which one thread of the server's kind runs in order; a byte through a socket pair wakes it.
"""

import asyncio
import logging
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from selfeng.core.errors import AgentError
from web.serving import LOOK, Serving

T = TypeVar("T")

log = logging.getLogger(f"selfeng.{__name__}")

_PATIENCE = 30.0
_LOOK_AT_READER = 0.5
"""Seconds between looks at whether a reader of a stream is still there."""


class EngineSilent(AgentError):
    """The engine did not answer in time, or is ending."""

    cause = "silent"


class Bridge:
    """Owns the engine's thread and loop. It is not anyio's portal, see `LoopThread` in
    `selfeng.python.sync_agent`; its threads may be green ones, which can't wait for a future.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._outbox: deque[Callable[[], None]] = deque()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._lasting: list[Future[None]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the engine's loop and block this thread; only while nothing is being served."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not wait([future], LOOK).done:
            pass
        return future.result()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run on the engine's loop until the bridge is closed."""
        self._lasting.append(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call(self, work: Coroutine[Any, Any, T], patience: float = _PATIENCE) -> T:
        """Run on the engine's loop while other handlers run.

        Raises:
            EngineSilent: there is no answer after `patience` seconds, or the engine is ending.
        """
        completion = self._serving.event()
        future = self._start(work)
        future.add_done_callback(lambda _: self.post(completion.set))
        if not completion.wait(patience):
            future.cancel()
            raise EngineSilent(
                f"the engine did not answer within {patience:g} seconds", "try again"
            )
        if future.cancelled():
            raise EngineSilent("the server is ending", "start it again")
        return future.result()

    def stream(
        self,
        work: Callable[[Callable[[T], None], asyncio.Event], Coroutine[Any, Any, None]],
        has_left: Callable[[], bool],
    ) -> Generator[T, None, None]:
        """Run on the engine's loop while other handlers run, and give what the work sends. Its
        event is set when this is closed, or when `has_left` is true, which is asked twice a second:
        the work is to end by itself, as it may have to clean up.

        Raises:
            EngineSilent: the engine is ending.
        """
        sent, news = deque[T](), self._serving.event()
        work_ended, reader_left = False, asyncio.Event()

        def take(piece: T) -> None:
            sent.append(piece)
            news.set()

        def end() -> None:
            nonlocal work_ended
            work_ended = True
            news.set()

        future = self._start(work(lambda piece: self.post(partial(take, piece)), reader_left))
        future.add_done_callback(lambda _: self.post(end))
        try:
            is_last = False
            while not is_last:
                news.wait(_LOOK_AT_READER)
                news.clear()
                is_last = work_ended or has_left()
                while sent:
                    yield sent.popleft()
        finally:
            with suppress(RuntimeError):  # the loop has ended, and the work with it
                self._loop.call_soon_threadsafe(reader_left.set)
        if work_ended and not future.cancelled():
            future.result()

    def _start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Raises: EngineSilent: the engine is ending."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise EngineSilent("the server is ending", "start it again") from error

    def pause(self, seconds: float) -> None:
        """Wait while other handlers run."""
        if seconds:
            self._serving.event().wait(seconds)

    def post(self, action: Callable[[], None]) -> None:
        """Queue an action to run on the server's side; callable from any thread and from signal
        handlers.
        """
        self._outbox.append(action)
        try:
            self._writer.send(b"!")
        except BlockingIOError:  # enough bytes are waiting to wake the pump anyway
            pass
        except OSError:
            log.debug("the bridge is closed")

    def pump(self) -> None:
        """Run the posted actions until the bridge is closed; one thread of the server's kind does
        this.
        """
        while self._serving.receive(self._reader):
            while self._outbox:
                action = self._outbox.popleft()
                try:
                    action()
                except Exception:
                    log.exception(
                        "an action from the engine failed"
                    )  # the next ones belong to other people

    def close(self, end: Callable[[], Awaitable[None]], patience: float = 1.2) -> None:
        """Run `end` on the loop, cancel the rest and end the thread, all within about `patience`
        seconds.
        """
        for work in self._lasting:
            work.cancel()
        winding_down = asyncio.run_coroutine_threadsafe(_wind_down(end, patience), self._loop)
        try:
            winding_down.result(patience + 0.2)
        except TimeoutError:
            log.info(
                "the engine did not end in time"
            )  # the journal says at the next start which turns this stopped
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(0.2)
        self._writer.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()


async def _wind_down(end: Callable[[], Awaitable[None]], patience: float) -> None:
    try:
        async with asyncio.timeout(patience * 0.8):
            await end()
    except TimeoutError:
        log.info("the engine did not end in time")
    except Exception:
        log.exception("the engine did not end in order")
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
