"""Agent: the agent for programs without an event loop, and for notebooks, which run another."""

import asyncio
import concurrent.futures.thread  # noqa: F401 - see `Agent.__init__`
import logging
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import aclosing
from functools import wraps
from os import PathLike
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from selfeng.core.errors import RequestError
from selfeng.core.events import Event, Record, TurnFailed, TurnFinished, TurnStopped
from selfeng.core.settings import Settings
from selfeng.python.async_agent import AsyncAgent, Given

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)
_PATIENCE = 10.0
"""Seconds that what runs may take to end."""


def _blocking(
    method: Callable[Concatenate[AsyncAgent, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Agent", P], T]:
    """The same method for programs without an event loop."""

    @wraps(method)
    def run(self: "Agent", /, *arguments: P.args, **options: P.kwargs) -> T:
        return self._thread.run(method(self._agent, *arguments, **options))

    return run


class Agent:
    """The agent on a folder of its own, see `AsyncAgent`, whose methods these are; every one blocks
    and serves any thread. It opens at its first use, on an event loop in a thread of its own, and
    closes with `close`, at the end of `with`, or with the program.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        model: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **settings: Any,
    ) -> None:
        """See `AsyncAgent`. Raises: ConfigurationError: a setting is unknown, or has a value that
        is not allowed.
        """
        self._agent = AsyncAgent(
            folder, model=model, api_key=api_key, base_url=base_url, **settings
        )
        self._thread = LoopThread("agent")
        self._finalizer = weakref.finalize(self, _close, self._agent, self._thread)
        # Before the pools of threads end, whose module was imported earlier; what `atexit` calls
        # comes too late for closing, which needs them.
        threading._register_atexit(self._finalizer)  # type: ignore[attr-defined]

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    open = _blocking(AsyncAgent.open)
    ask = _blocking(AsyncAgent.ask)
    build = _blocking(AsyncAgent.build)
    tools = _blocking(AsyncAgent.tools)
    tool = _blocking(AsyncAgent.tool)
    search = _blocking(AsyncAgent.search)
    call = _blocking(AsyncAgent.call)
    execute = _blocking(AsyncAgent.execute)
    run_program = _blocking(AsyncAgent.run_program)
    health = _blocking(AsyncAgent.health)
    merge = _blocking(AsyncAgent.merge)
    unmerge = _blocking(AsyncAgent.unmerge)
    grants = _blocking(AsyncAgent.grants)
    allow = _blocking(AsyncAgent.allow)
    revoke = _blocking(AsyncAgent.revoke)
    schedule = _blocking(AsyncAgent.schedule)
    schedules = _blocking(AsyncAgent.schedules)
    run_schedule = _blocking(AsyncAgent.run_schedule)
    pause_schedule = _blocking(AsyncAgent.pause_schedule)
    resume_schedule = _blocking(AsyncAgent.resume_schedule)
    remove_schedule = _blocking(AsyncAgent.remove_schedule)
    conversations = _blocking(AsyncAgent.conversations)
    history = _blocking(AsyncAgent.history)
    delete_data = _blocking(AsyncAgent.delete_data)

    @property
    def settings(self) -> Settings:
        """The settings that the agent works with."""
        return self._agent.settings

    def close(self) -> None:
        self._finalizer()

    def stream(
        self,
        request: str = "",
        *,
        conversation: str = "",
        files: Iterable[Given] = (),
        answers: Mapping[str, object] | None = None,
        agent: str = "",
    ) -> Generator[Record, None, None]:
        return self._thread.stream(
            self._agent.stream(
                request, conversation=conversation, files=files, answers=answers, agent=agent
            )
        )

    def process_request(
        self,
        user_prompt: str,
        callback: Callable[[Event], object] = lambda event: None,
        files: Iterable[Given] = (),
        *,
        agent: str = "",
        conversation: str = "",
    ) -> TurnFinished | TurnFailed | TurnStopped:
        """Run one turn, call `callback` with every event of it, and return the last event; what
        the callback raises is logged. Raises: RequestError.
        """
        events = self.stream(user_prompt, conversation=conversation, files=files, agent=agent)
        for record in events:
            try:
                callback(record.event)
            except Exception:  # the program's own code: its errors must not end the turn
                log.exception("the callback failed on %s", record.event.type)
            if isinstance(record.event, TurnFinished | TurnFailed | TurnStopped):
                return record.event
        raise RequestError("the agent was closed while the turn ran", "ask again")


def _close(agent: AsyncAgent, thread: "LoopThread") -> None:
    if not thread.closed:
        thread.run(agent.aclose())
        thread.close()


class LoopThread:
    """Runs coroutines for any thread but its own. A program that ends without closing it is not
    kept alive.

    `anyio.from_thread` has a portal for this, but it cancels again whatever the clean-up of a
    cancelled call waits for, so that Ctrl-C would not stop the turn; and a call takes 106 µs
    instead of 66.
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
        sent, end_event = SimpleQueue[tuple[T] | None](), threading.Event()

        async def pump() -> None:
            try:
                async with aclosing(pieces):
                    async for piece in pieces:
                        sent.put((piece,))
            finally:
                end_event.set()
                sent.put(None)

        future = asyncio.run_coroutine_threadsafe(pump(), self._loop)
        try:
            while (piece := sent.get()) is not None:
                yield piece[0]
            future.result()
        finally:
            future.cancel()
            end_event.wait(_PATIENCE)

    def close(self) -> None:
        """Cancel what runs, and end the thread."""
        if self.closed or os.getpid() != self._process:
            return
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
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # its end cancels all tasks
            runner.get_loop().run_forever()
