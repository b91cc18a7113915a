"""A turn of a project: a build, or what a person does on it; told by events, of which the last one ends the turn."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import assert_never

from src.core.errors import AgentError
from src.core.events import BudgetSpent, Event, TurnFailed, TurnFinished, TurnStarted, TurnStopped
from src.core.project_events import AnyProjectEvent, ProjectFailed, ProjectFinished, ProjectStopped
from src.core.stage_event import Usage
from src.projects.consent import Awaited
from src.projects.loop import Emit, Final

log = logging.getLogger(__name__)

BUILDING, ACTING = "building", "acting"
"""Where a turn of a project gives up: in a build, or in what a person does."""
Last = TurnFinished | TurnFailed | TurnStopped


class ProjectTurn:
    """Begins when it is made, on the event loop; read by one reader."""

    def __init__(self, request: str, where: str, work: Callable[[Emit], Awaitable[Last]], consent: Awaited | None = None) -> None:
        """`consent` is what a build asks, for whoever answers it."""
        self.consent = consent
        self._where, self._reason = where, ""
        self._spent: BudgetSpent | None = None
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._events.put_nowait(TurnStarted(request=request))
        self._task = asyncio.ensure_future(work(self._hear))
        self._task.add_done_callback(lambda _: self._events.put_nowait(self._last()))

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, Last):
                return

    def stop(self, reason: str) -> None:
        """End the work with all that it runs; the last event will be `TurnStopped`."""
        self._reason = reason
        self._task.cancel()

    def _hear(self, event: AnyProjectEvent | BudgetSpent) -> None:
        if isinstance(event, BudgetSpent):
            self._spent = event
        self._events.put_nowait(event)

    def _last(self) -> Last:
        spent = {"usage": self._spent.usage, "seconds": self._spent.seconds} if self._spent else {"usage": Usage(), "seconds": 0.0}
        if self._task.cancelled():
            return TurnStopped(reason=self._reason, **spent)
        match self._task.exception():
            case None:
                return self._task.result()
            case AgentError() as error:
                return TurnFailed(where=self._where, message=error.message, remedy=error.remedy, kind=error.kind, **spent)
            case error:  # the end of a turn: nothing may stop the others
                log.error("a turn of a project failed on an unexpected error", exc_info=error)
                told = f"an unexpected error: {type(error).__name__}: {error}"
                return TurnFailed(where=self._where, message=told, remedy="the server's log has the details", **spent)


def ended(last: Final) -> Last:
    """The end of a build as the end of its turn."""
    spent = {"usage": last.usage, "seconds": last.seconds}
    match last:
        case ProjectFinished():
            return TurnFinished(answer=last.summary, **spent)
        case ProjectFailed():
            return TurnFailed(where=BUILDING, **last.model_dump(include={"message", "remedy", "kind", "reached"}), **spent)
        case ProjectStopped():
            return TurnStopped(reason=last.reason, **spent)
        case _:
            assert_never(last)
