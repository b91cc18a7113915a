"""A running turn: a stream of events, the last of which ends it."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Literal

from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import AgentError, Diverged, TakenOver
from selfeng.core.events import Event, TurnFailed, TurnFinished, TurnStopped
from selfeng.core.work import current_work

log = logging.getLogger(__name__)

CANCELLED = "The turn was cancelled."
"""The reason for a stop that has no other."""
ON_REQUEST = ("Stopped on request.", CANCELLED)
"""The reasons for stops by people."""
INTERRUPTED = "It was interrupted and can't go on where it was."
"""The reason for the end of a turn whose process ended."""
Last = TurnFinished | TurnFailed | TurnStopped


class RunningTurn(ABC):
    """A turn that has begun; any number of readers get its events from the first one on."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        """On the event loop; it becomes one of the tasks."""
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None
        self.events: list[Event] = []
        self.ended = False
        self.arrived = asyncio.Event()
        """Set when there is another event."""
        self._work_started = False
        """Whether the work has started; then it determines the last event."""
        self._reason = CANCELLED
        self._steps = current_work.get()

    def __aiter__(self) -> AsyncIterator[Event]:
        return _Reader(self)

    def emit(self, event: Event) -> None:
        """Report an event; after the last one, none is."""
        if not self.ended:
            self.events.append(event)
            self.arrived.set()

    def begin(self, work: Callable[[], Awaitable[Last]]) -> None:
        """Do the work of the turn from the next task switch on; its result ends the turn."""
        self._task = self._tasks.start(self._run(work))

    def stop(self, reason: str = CANCELLED) -> None:
        """Cancel everything that the turn runs; its last event will be `TurnStopped`."""
        self._reason = reason
        if self._steps:
            self._steps.stop()
        if not self._work_started:
            self._end(self._stopped())
        if self._task:
            self._task.cancel()

    async def _run(self, work: Callable[[], Awaitable[Last]]) -> None:
        self._work_started = True
        try:
            last = await work()
        except AgentError as error:
            last = self.failed(error)
        except Diverged as error:
            log.error("a turn can't go on: %s", error)
            last = self.failed(interrupted())
        except TakenOver:
            last = self._stopped()  # which the journal does not take from this process
        except Exception as error:  # the end of a turn: nothing may affect other turns
            log.exception("a turn failed on an unexpected error")
            last = self.failed(
                AgentError(
                    f"an unexpected error: {type(error).__name__}: {error}",
                    "the server's log has the details",
                )
            )
        except BaseException:
            self._end(self._stopped())
            raise
        self._end(last)

    @property
    @abstractmethod
    def spent(self) -> Mapping[str, Any]:
        """`usage` and `seconds` so far, for the last event."""

    @abstractmethod
    def failed(self, error: AgentError) -> TurnFailed:
        """The last event of a turn that this error ended."""

    def _stopped(self) -> TurnStopped:
        by: Literal["person", "server"] = "person" if self._reason in ON_REQUEST else "server"
        return TurnStopped(reason=self._reason, by=by, **self.spent)

    def _end(self, last: Last) -> None:
        """End the turn; nothing comes after this event."""
        self.emit(last)
        self.ended = True


class _Reader(AsyncIterator[Event]):
    """One reader's place in the events of a turn."""

    def __init__(self, turn: RunningTurn) -> None:
        self._turn, self._place = turn, 0

    async def __anext__(self) -> Event:
        while self._place == len(self._turn.events):
            if self._turn.ended:
                raise StopAsyncIteration
            self._turn.arrived.clear()
            await self._turn.arrived.wait()
        self._place += 1
        return self._turn.events[self._place - 1]


def interrupted() -> AgentError:
    """The end of a turn that was interrupted and can't be resumed."""
    message = "it was interrupted and can't go on where it was"
    return AgentError(message, "ask again", cause="interrupted")
