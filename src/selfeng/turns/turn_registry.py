"""Running turns: those of this process, in a queue when they are many, recorded by their events,
and stopped by their owners.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from selfeng.core.errors import Diverged
from selfeng.core.events import TurnQueued
from selfeng.store.recorder import Recorder
from selfeng.turns.event_numbers import EventNumbers, NumberedEvent
from selfeng.turns.running_turn import RunningTurn, interrupted
from selfeng.turns.turn_queue import TurnQueue

log = logging.getLogger(__name__)

_ON_REQUEST = "Stopped on request."


class TurnRegistry:
    """Used on the engine's loop only."""

    def __init__(
        self,
        recorder: Recorder,
        queue: TurnQueue,
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        """`start` runs a coroutine in the background."""
        self._recorder, self._queue, self._start = recorder, queue, start
        self._turns: dict[
            str, tuple[str, str, RunningTurn]
        ] = {}  # turn id → owner, conversation id, turn
        self.learn: Callable[[str], object] | None = None
        """Called with the id of each turn that has ended and is in the journal."""

    def check(self, owner: str, conversation_id: str | None = None) -> None:
        """Call before a turn of `owner` is begun; None for a new conversation. Raises:
        LimitReached: too many are waiting.
        """
        self._queue.check(owner, conversation_id)

    def reconsider(self) -> None:
        """The limits of the queue have changed."""
        self._queue.reconsider()

    def begin(
        self,
        owner: str,
        conversation_id: str,
        turn_id: str,
        turn: RunningTurn,
        *,
        numbers: EventNumbers | None = None,
        lease: int = 1,
        ended: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """Record the turn until it ends; its work starts when the queue admits it. Call it before
        the next task switch. `numbers` knows what the journal has of it, and `lease` is the one
        under which this process runs it. `ended` is called when its last event is stored, and
        tells whether it is the turn's end: another process may have taken it over.
        """
        self._turns[turn_id] = owner, conversation_id, turn
        turn.ticket = self._queue.enter(
            owner, conversation_id, lambda place: turn.emit(TurnQueued(place=place))
        )
        told = self._record(conversation_id, turn_id, turn, numbers or EventNumbers(), lease)
        self._start(self._follow(turn_id, told, ended))

    def find(self, owner: str, turn_id: str) -> RunningTurn | None:
        """A running turn of `owner`; None if there is none with that id."""
        whose, _, turn = self._turns.get(turn_id, ("", "", None))
        return turn if whose == owner else None

    def of(self, conversation_id: str) -> str | None:
        """The id of the turn that runs in the conversation, if any."""
        return next(
            (
                turn_id
                for turn_id, (_, conversation, _) in self._turns.items()
                if conversation == conversation_id
            ),
            None,
        )

    def stop(self, owner: str, turn_id: str) -> bool:
        """Stop a running turn of `owner`; False if there is none with that id."""
        turn = self.find(owner, turn_id)
        if turn is not None:
            turn.stop(_ON_REQUEST)
        return turn is not None

    def stop_here(self, turn_id: str) -> None:
        """Stop a turn for another process, which has checked whose it is, if it runs here."""
        if turn_id in self._turns:
            self._turns[turn_id][2].stop(_ON_REQUEST)

    @property
    def running(self) -> tuple[str, ...]:
        """The ids of the turns that run here."""
        return tuple(self._turns)

    def stop_all(self, reason: str, conversation_id: str = "") -> None:
        """Stop every turn, or those of one conversation."""
        for _, conversation, turn in self._turns.values():
            if conversation_id in ("", conversation):
                turn.stop(reason)

    async def _follow(
        self,
        turn_id: str,
        told: Coroutine[Any, Any, None],
        ended: Callable[[], Awaitable[bool]] | None,
    ) -> None:
        await told
        if self.learn is None and ended is None:
            return
        await self._recorder.flush()
        last = ended is None or await ended()
        if last and self.learn is not None:
            self.learn(turn_id)

    async def _record(
        self,
        conversation_id: str,
        turn_id: str,
        turn: RunningTurn,
        numbers: EventNumbers,
        lease: int,
    ) -> None:
        def store(taken: NumberedEvent) -> None:
            event, scope, n = taken
            self._recorder.emit(conversation_id, turn_id, event, scope=scope, n=n, lease=lease)

        try:
            async for event in turn:
                if taken := numbers.take(event):
                    store(taken)
        except Diverged as error:
            log.error("turn %s can't go on: %s", turn_id, error)
            turn.stop()
            store(NumberedEvent(turn.failed(interrupted()), "", numbers.next))
        finally:
            del self._turns[turn_id]
            if turn.ticket:
                self._queue.leave(turn.ticket)
