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
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future, wait
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from selfeng.core.errors import AgentError
from web.serving import LOOK, Serving

T = TypeVar("T")

log = logging.getLogger(f"selfeng.{__name__}")

_PATIENCE = 30.0


class EngineSilent(AgentError):
    """The engine did not answer in time, or is ending."""


class Bridge:
    """Owns the engine's thread and loop."""

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
        done = self._serving.event()
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise EngineSilent("the server is ending", "start it again") from error
        future.add_done_callback(lambda _: self.post(done.set))
        if not done.wait(patience):
            future.cancel()
            raise EngineSilent(
                f"the engine did not answer within {patience:g} seconds", "try again"
            )
        if future.cancelled():
            raise EngineSilent("the server is ending", "start it again")
        return future.result()

    def stream(
        self, items: AsyncGenerator[T, None], silence: float
    ) -> Generator[T | None, None, None]:
        """The items of an asynchronous generator as they come, while other handlers run; None
        whenever none came for `silence` seconds. Leaving it closes the generator.

        Raises: what the generator raises, and EngineSilent if the engine is ending.
        """
        came: deque[T | Future[None]] = deque()
        news = [self._serving.event()]

        def put(item: T | Future[None]) -> None:
            came.append(item)
            news[0].set()

        async def feed() -> None:
            async with aclosing(items):
                async for item in items:
                    self.post(partial(put, item))

        try:
            future = asyncio.run_coroutine_threadsafe(feed(), self._loop)
        except RuntimeError as error:
            raise EngineSilent("the server is ending", "start it again") from error
        future.add_done_callback(lambda _: self.post(partial(put, future)))
        try:
            while True:
                event = news[0] = self._serving.event()
                if not came:
                    if not event.wait(silence):
                        yield None
                elif (item := came.popleft()) is not future:
                    yield item  # type: ignore[misc]  # a future of another's is no item
                elif future.cancelled():
                    raise EngineSilent("the server is ending", "start it again")
                else:
                    future.result()
                    return
        finally:
            future.cancel()

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
