"""The context that promises run under: it keeps their tasks, their defaults and their handlers."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, cast

from selfeng_agents.promising_errors import NoActiveContextError, WrongActiveContextError
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice

T = TypeVar("T")

_logger = logging.getLogger(__name__)

ResolvedHandler = Callable[[Any, Any], Awaitable[None]]
"""Called with a promise and its value, or its error."""


class Client(Protocol):
    """Something with connections to close."""

    async def close(self) -> None: ...


ClientT = TypeVar("ClientT", bound=Client)


class Closable(Protocol):
    """Something that accepts pieces until it is closed."""

    def close(self) -> object: ...


class Scope:
    """The owner of tasks: one run of an agent inside the run that called it."""

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
current_context: ContextVar["PromisingContext | None"] = ContextVar("current_context", default=None)


class Endable(Protocol):
    """An output of a task, which must end when the task fails."""

    def end(self, error: BaseException | None = None) -> None: ...


class PromisingContext:
    """An async context manager for promises; leaving it waits for everything that was started in
    it.

    Leaving it by a cancellation, or by any other error that is not an `Exception`, cancels what was
    started instead.
    """

    def __init__(
        self,
        *,
        start_everything_asap_by_default: Choice = DEFAULT,
        start_everything_soon_by_default: Choice = DEFAULT,
        appenders_capture_errors_by_default: bool = False,
        errors_as_messages: bool = False,
        error_tracebacks_in_messages: bool = False,
        longer_hash_keys: Choice = False,
        logger: logging.Logger | None = None,
        log_level_for_errors: int = logging.ERROR,
        on_promise_resolved: ResolvedHandler | Iterable[ResolvedHandler] = (),
    ) -> None:
        """`start_everything_soon_by_default` is an alias of `start_everything_asap_by_default`,
        which is True by default. `logger` gets the errors of what runs in the background.
        """
        self.logger, self.log_level_for_errors = logger or _logger, log_level_for_errors
        self._calm = asyncio.Event()
        self._tasks: dict[asyncio.Task[Any], tuple[Scope | None, Endable | None]] = {}
        self._idle: set[asyncio.Task[Any]] = set()
        self.start_everything_asap_by_default = resolve_choice(
            True, start_everything_asap_by_default, start_everything_soon_by_default
        )
        self.appenders_capture_errors_by_default = appenders_capture_errors_by_default
        self.errors_as_messages = errors_as_messages
        self.error_tracebacks_in_messages = error_tracebacks_in_messages
        self.longer_hash_keys = resolve_choice(False, longer_hash_keys)
        self.on_promise_resolved_handlers = as_list(on_promise_resolved)
        self.parent = self.find_current()
        self._previous: PromisingContext | None = None
        self._active = False
        self._exits = AsyncExitStack()
        self._shared: dict[Callable[[], Any], Client] = {}
        self.unfinished: set[Closable] = set()
        """Closed when this context ends, so that no task waits for more."""

    @classmethod
    def get_current(cls) -> Self:
        """Raises: NoActiveContextError, WrongActiveContextError."""
        if (current := current_context.get()) is None:
            raise NoActiveContextError(
                "No context is active; put this under `async with MiniAgents():`, or inside an "
                "agent."
            )
        if not isinstance(current, cls):
            raise WrongActiveContextError(
                f"The active context is a {type(current).__name__}; put this under `async with "
                f"{cls.__name__}():`."
            )
        return current

    @staticmethod
    def find_current() -> "PromisingContext | None":
        """The active context, if any."""
        return current_context.get()

    def run(self, awaitable: Awaitable[T]) -> T:
        """Run to the end in a new event loop and this context. Blocks. Raises: RuntimeError: an
        event loop is running here.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.arun(awaitable))
        if isinstance(awaitable, Coroutine):
            awaitable.close()
        raise RuntimeError(
            f"An event loop is running here, which `{type(self).__name__}().run` would block; "
            f"write `await {type(self).__name__}().arun(...)`."
        )

    async def arun(self, awaitable: Awaitable[T]) -> T:
        """Run to the end in this context."""
        async with self:
            return await awaitable

    def on_promise_resolved(self, handler: ResolvedHandler) -> ResolvedHandler:
        """Call an async function with every promise that gets its value in this context or one
        inside it; a decorator.
        """
        self.on_promise_resolved_handlers.append(check_async(handler))
        return handler

    def shared(self, make: Callable[[], ClientT]) -> ClientT:
        """The result of `make`, called once per context; closed when the context ends."""
        if make not in self._shared:
            self._shared[make] = client = make()
            self._exits.push_async_callback(client.close)
        return cast(ClientT, self._shared[make])

    @property
    def is_observed(self) -> bool:
        """Whether there is a handler for values here."""
        context: PromisingContext | None = self
        while context is not None:
            if context.on_promise_resolved_handlers:
                return True
            context = context.parent
        return False

    def tell(self, promise: object, value: object) -> None:
        """Start the handlers for a promise that has its value, or its error."""
        context: PromisingContext | None = self
        while context is not None:
            for handler in context.on_promise_resolved_handlers:
                context.start_asap(handler(promise, value))
            context = context.parent

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
        except Exception as error:  # noqa: BLE001  it is unread
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

    def start_asap(
        self, awaitable: Awaitable[T], suppress_errors: bool = False
    ) -> asyncio.Task[T | None]:
        """Run in the background from the next task switch on; this context waits for it. An error
        is the task's, or logged with `suppress_errors`.
        """
        coroutine: Coroutine[Any, Any, T | None] = _as_coroutine(awaitable)
        return self.start_logged(coroutine) if suppress_errors else self.start(coroutine)

    start_soon = start_asap

    async def agather(self, *awaitables: Awaitable[Any], return_exceptions: bool = True) -> Any:
        """Run all at once; their results, and by default their errors, in order."""
        return tuple(
            await asyncio.gather(
                *map(self.start_asap, awaitables), return_exceptions=return_exceptions
            )
        )

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Inside, no flush waits for the current task, which waits for a reader that may never
        come.
        """
        task = cast(asyncio.Task[Any], asyncio.current_task())
        self._idle.add(task)
        if len(self._tasks) <= 1 + len(self._idle):
            self._calm.set()
        try:
            yield
        finally:
            self._idle.discard(task)

    def activate(self) -> Self:
        """Make this the current context without `async with`; `afinalize` ends it. Raises:
        RuntimeError: it is already active.
        """
        if self._active:
            raise RuntimeError(
                f"This {type(self).__name__} is active already; make another one inside it."
            )
        self._active = True
        self._calm = asyncio.Event()
        self._exits = AsyncExitStack()
        self._shared = {}
        self._previous = current_context.get()
        current_context.set(self)
        return self

    async def afinalize(self) -> None:
        """Wait for what was started, and leave."""
        for appender in list(self.unfinished):
            appender.close()
        try:
            await self.aclose()
        finally:
            for task in self._idle:
                task.cancel()
            current_context.set(self._previous)
            self._previous = None
            self._active = False
            await self._exits.aclose()

    async def __aenter__(self) -> Self:
        return self.activate()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self.cancel()
        await self.afinalize()

    def __enter__(self) -> None:
        raise RuntimeError(f"Use `async with {type(self).__name__}():` instead of `with`.")

    def __exit__(self, *error: object) -> None: ...


def as_list(
    handlers: Callable[..., Awaitable[None]] | Iterable[Callable[..., Awaitable[None]]],
) -> list[Callable[..., Awaitable[None]]]:
    """One handler or several, as a list. Raises: ValueError: one is not async."""
    return [check_async(handler) for handler in ([handlers] if callable(handlers) else handlers)]


def is_async(function_or_class: Any) -> bool:
    """Whether it is an async function, or has an async `__call__`."""
    call = getattr(function_or_class, "__call__", None)  # noqa: B004  whether that is async is the question
    return inspect.iscoroutinefunction(function_or_class) or inspect.iscoroutinefunction(call)


def check_async(handler: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The handler itself. Raises: ValueError: it is not async."""
    if not is_async(handler):
        raise ValueError(f"A handler must be an async function, not {handler!r}.")
    return handler


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _as_coroutine(awaitable: Awaitable[T]) -> Coroutine[Any, Any, T]:
    if not inspect.isawaitable(awaitable):
        raise TypeError(f"Only what can be awaited can be started, not {awaitable!r}.")
    return awaitable if isinstance(awaitable, Coroutine) else _awaited(awaitable)
