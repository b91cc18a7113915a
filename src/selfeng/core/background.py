"""Tasks in the background: who started them, who waits for them, and who cancels them."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundTasks:
    """The tasks of one part of a program, on one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run in the background; asyncio logs an error that nobody reads."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Cancel everything."""
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
