"""A running turn: an inquiry to an agent, told by a stream of events, the last of which ends it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from selfeng.core.errors import AgentError
from selfeng.core.events import Event, TurnFailed, TurnFinished, TurnStopped
from selfeng.runtime import MessageSequencePromise, MiniAgent, StreamAppender

log = logging.getLogger(__name__)

CANCELLED = "The turn was cancelled."
"""The reason of an end for which nobody gave another."""
Last = TurnFinished | TurnFailed | TurnStopped


class RunningTurn(ABC):
    """A turn that was begun: its events are a stream, which any number of readers have from the first event on."""

    def __init__(self) -> None:
        """On the event loop, in the context of a runtime."""
        self._feed: StreamAppender[Event] = StreamAppender(capture_errors=False).open()
        self.answer: MessageSequencePromise | None = None
        """What the agent replies."""
        self._begun = False
        """Whether the agent has taken it up, which then says its end."""
        self._reason = CANCELLED

    def __aiter__(self) -> AsyncIterator[Event]:
        return aiter(self._feed)

    def emit(self, event: Event) -> None:
        """Tell of something that happens."""
        self._feed.append(event)

    def begin(self, agent: MiniAgent, request: str) -> None:
        """Give the turn to its agent, whose body is `run`; that starts at the next task switch."""
        self.answer = agent.inquire(request, running=self)

    def stop(self, reason: str = CANCELLED) -> None:
        """End everything that the turn has running; its last event will be `TurnStopped`."""
        self._reason = reason
        if not self._begun:
            self._end(self._stopped())
        if self.answer is not None:
            self.answer.cancel()

    async def run(self, work: Callable[[], Awaitable[Last]]) -> None:
        """Do the work of the turn, and end the turn as that ends."""
        self._begun = True
        try:
            last = await work()
        except AgentError as error:
            last = self.failed(error)
        except Exception as error:  # the end of a turn: nothing may stop the others
            log.exception("a turn failed on an unexpected error")
            last = self.failed(AgentError(f"an unexpected error: {type(error).__name__}: {error}", "the server's log has the details"))
        except BaseException:
            self._end(self._stopped())
            raise
        self._end(last)

    @property
    @abstractmethod
    def spent(self) -> Mapping[str, Any]:
        """`usage` and `seconds` so far, as each last event tells them."""

    @abstractmethod
    def failed(self, error: AgentError) -> TurnFailed:
        """The last event of a turn that this error ended."""

    def _stopped(self) -> TurnStopped:
        return TurnStopped(reason=self._reason, **self.spent)

    def _end(self, last: Last) -> None:
        """Nothing comes after this event."""
        if self._feed.is_open:
            self._feed.append(last).close()
