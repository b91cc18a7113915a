"""Tasks in the background: who started them, who waits for them, and who cancels them."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeVar

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Scope:
    """The owner of tasks: a turn, or one run of an agent inside the run that called it."""

    __slots__ = ("__weakref__", "parent")

    def __init__(self) -> None:
        self.parent: Scope | None = current_scope.get()

    def is_under(self, scope: "Scope") -> bool:
        """Whether this is the given scope or was called from it, at any depth."""
        here: Scope | None = self
        while here is not None and here is not scope:
            here = here.parent
        return here is not None


current_scope: ContextVar[Scope | None] = ContextVar("current_scope", default=None)
current_tasks: ContextVar["BackgroundTasks | None"] = ContextVar("current_tasks", default=None)


class Endable(Protocol):
    """What a task writes to, which must end when the task fails."""

    def end(self, error: BaseException | None = None) -> None: ...


class BackgroundTasks:
    """The tasks of one part of a program, on one event loop."""

    def __init__(self, logger: logging.Logger = _log, level: int = logging.ERROR) -> None:
        """`logger` gets the errors that nobody reads, at this level."""
        self.logger, self.log_level_for_errors = logger, level
        self._calm = asyncio.Event()
        self._tasks: dict[asyncio.Task[Any], tuple[Scope | None, Endable | None]] = {}
        self._idle: set[asyncio.Task[Any]] = set()

    def start(
        self,
        coroutine: Coroutine[Any, Any, T],
        writes: Endable | None = None,
        scope: Scope | None = None,
    ) -> asyncio.Task[T]:
        """Run in the background; a cancellation of the task also ends what it writes to, even if it
        never began.
        """
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks[task] = scope or current_scope.get(), writes
        task.add_done_callback(self._finished)
        return task

    def start_logged(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T | None]:
        """Run in the background; an error is logged."""
        return self.start(self._logged(coroutine))

    async def _logged(self, coroutine: Coroutine[Any, Any, T]) -> T | None:
        try:
            return await coroutine
        except Exception as error:  # noqa: BLE001  nobody reads it
            self.log_error("A task in the background failed", error)
            return None

    def log_error(self, message: str, error: BaseException) -> None:
        """Log an error that no one reads."""
        self.logger.log(self.log_level_for_errors, message, exc_info=error)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        _, writes = self._tasks.pop(task)
        if writes is not None and task.cancelled():
            writes.end(asyncio.CancelledError())
        if len(self._tasks) <= 1 + len(self._idle):
            self._calm.set()

    def cancel(self, scope: Scope | None = None) -> None:
        """Cancel what was started under a scope, or everything."""
        for task, (where, _) in list(self._tasks.items()):
            if scope is None or (where is not None and where.is_under(scope)):
                task.cancel()

    async def aflush_tasks(self) -> None:
        """Wait until only the caller is running."""
        is_task = asyncio.current_task() in self._tasks
        while len(self._tasks) - len(self._idle) > is_task:
            self._calm.clear()
            await self._calm.wait()

    async def aclose(self) -> None:
        """Wait for what was started; a cancellation cancels it."""
        try:
            await self.aflush_tasks()
        except asyncio.CancelledError:
            self.cancel()
            await self.aflush_tasks()
            raise

    @contextmanager
    def entered(self) -> Iterator[Self]:
        """Inside, these are the current tasks."""
        token = current_tasks.set(self)
        try:
            yield self
        finally:
            current_tasks.reset(token)
