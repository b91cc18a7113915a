"""Tasks: in the background, several at once, and in threads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")


@overload
async def together(
    first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U], /
) -> tuple[T, U]: ...
@overload
async def together(*coroutines: Coroutine[Any, Any, T]) -> tuple[T, ...]: ...
async def together(*coroutines: Coroutine[Any, Any, Any]) -> tuple[Any, ...]:
    """Begin all in this order and wait for their results. If one fails, its error is raised when
    the others were cancelled and have ended.
    """
    async with first_error_alone() as group:
        tasks = [group.create_task(coroutine) for coroutine in coroutines]
    return tuple(task.result() for task in tasks)


def in_thread(
    part: str, method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that calls the blocking one of an object's attribute `part` in a thread."""

    @wraps(method)
    async def run(self: Any, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await asyncio.to_thread(method, getattr(self, part), *arguments, **options)

    return run


@asynccontextmanager
async def beside(coroutine: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Do it concurrently with the context's work, and wait for it at the end. If one of the two
    fails, its error is raised when the other was cancelled and has ended.
    """
    async with first_error_alone() as group:
        group.create_task(coroutine)
        yield


@asynccontextmanager
async def first_error_alone() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks whose first error is raised without the others."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


class BackgroundTasks:
    """The tasks of one part of a program, on one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run in the background; asyncio logs an unread error."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    async def aflush_tasks(self) -> None:
        """Wait until only the caller is running."""
        while others := self._tasks - {asyncio.current_task()}:
            await asyncio.wait(others)

    async def aclose(self) -> None:
        """Cancel everything, and wait until it has ended."""
        self.cancel()
        await self.aflush_tasks()
