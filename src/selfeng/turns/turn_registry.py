"""The turns of this process: those that it runs, recorded by their events, and those that it took
into the queue, with their places.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from time import monotonic
from typing import Any

from selfeng.core.errors import Diverged
from selfeng.core.events import TurnQueued, TurnStarted, TurnStopped
from selfeng.store.recorder import Recorder
from selfeng.store.turn_queue import ClaimedTurn, TurnQueue
from selfeng.turns.event_numbers import EventNumbers, NumberedEvent
from selfeng.turns.running_turn import ON_REQUEST, RunningTurn, interrupted

log = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds in which the places of the queue are reported at most once."""
_LOOK = 1.0
"""Seconds between looks at a queue of which no news come."""

Ended = Callable[[int], Awaitable[bool]]
"""Called with the lease of a turn whose last event is stored; returns whether it is the turn's end:
another process may have taken it over.
"""


@dataclass
class WaitingTurn:
    """A turn that this process took into the queue."""

    owner: str
    conversation_id: str
    started: TurnStarted
    begin: Callable[[], RunningTurn]
    on_end: Ended | None
    since: float
    place: TurnQueued | None = None
    """The place that was reported last; None: it need not wait yet."""


class TurnRegistry:
    """Used on the engine's loop only."""

    def __init__(
        self,
        recorder: Recorder,
        queue: TurnQueue,
        room: Callable[[], int],
        start: Callable[[Coroutine[Any, Any, None]], object],
        blocked: Callable[[], str] = lambda: "",
        *,
        on_end: Callable[[str], object] = lambda turn_id: None,
        take: Callable[[ClaimedTurn], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        """`room` is how many turns may run here at once, of those that another process can run.
        `start` runs a coroutine in the background. `blocked` gives the reason why no process takes
        turns, "" if one does. `on_end` gets the id of each turn that has ended and is in the
        journal. `take` begins a turn that another process took into the queue.
        """
        self._on_end, self._take, self._takes_others = on_end, take, False
        self._recorder, self._queue, self._room, self._start = recorder, queue, room, start
        self._blocked = blocked
        self._turns: dict[
            str, tuple[str, str, RunningTurn]
        ] = {}  # turn id → owner, conversation id, turn
        self._waiting: dict[str, WaitingTurn] = {}
        self._foreign_owners: dict[str, str] = {}
        """Turns that other processes took into the queue, and their owners, until they run here."""
        self._stops: dict[str, str] = {}
        """Reasons to stop those."""
        self._claiming, self._news = asyncio.Lock(), asyncio.Event()
        self._tasks = set[asyncio.Task[None]]()
        self._due: asyncio.Task[None] | None = None
        """A look at the queue that has not begun."""
        self._changed = False
        """Whether the other processes do not know what changed in it."""
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    async def check(self, owner: str, conversation_id: str | None = None) -> None:
        """Call before a turn of `owner` is begun; None for a new conversation. Raises:
        LimitReached: too many are waiting.
        """
        await asyncio.to_thread(self._queue.check, owner, conversation_id)

    async def enter(
        self,
        owner: str,
        conversation_id: str,
        turn_id: str,
        started: TurnStarted,
        begin: Callable[[], RunningTurn],
        *,
        on_end: Ended | None = None,
    ) -> None:
        """Have a turn that the journal has in the queue begin when it is its turn. Returns when it
        has begun or waits.
        """
        self._waiting[turn_id] = WaitingTurn(
            owner, conversation_id, started, begin, on_end, monotonic()
        )
        await asyncio.shield(self._claim_soon(changed=True))
        if turn_id in self._waiting and self._looking is None:
            self._looking = asyncio.create_task(self._look(), name="queue", context=Context())

    def take_others(self) -> None:
        """From now on, take turns out of the queue that other processes took into it."""
        self._takes_others = True
        self.reconsider()

    def reconsider(self, *, changed: bool = True) -> None:
        """The limits of the queue, or who waits in it, have changed. `changed`: the other processes
        do not know it.
        """
        self._claim_soon(changed=changed)

    def begin(
        self,
        owner: str,
        conversation_id: str,
        turn_id: str,
        turn: RunningTurn,
        *,
        lease: int,
        numbers: EventNumbers | None = None,
        on_end: Ended | None = None,
    ) -> None:
        """Record the turn until it ends. Call it before the next task switch. `numbers` knows what
        the journal has of it, and `lease` is the one under which this process runs it.
        """
        self._turns[turn_id] = owner, conversation_id, turn
        self._foreign_owners.pop(turn_id, None)
        if reason := self._stops.pop(turn_id, ""):
            turn.stop(reason)
        recording = self._record(conversation_id, turn_id, turn, numbers or EventNumbers(), lease)
        self._start(self._follow(turn_id, recording, lease, on_end))

    def find(self, owner: str, turn_id: str) -> RunningTurn | None:
        """A running turn of `owner`; None if there is none with that id."""
        whose, _, turn = self._turns.get(turn_id, ("", "", None))
        return turn if whose == owner else None

    def of(self, conversation_id: str) -> str | None:
        """The id of the turn of this process that runs or waits in the conversation, if any."""
        here = {turn_id: conversation for turn_id, (_, conversation, _) in self._turns.items()}
        here |= {turn_id: turn.conversation_id for turn_id, turn in self._waiting.items()}
        return next((turn_id for turn_id, c in here.items() if c == conversation_id), None)

    async def stop(self, owner: str, turn_id: str, reason: str = ON_REQUEST[0]) -> bool:
        """Stop a turn of `owner` that runs here, or waits in the queue of any process; False if
        there is none with that id.
        """
        if self._stop(owner, turn_id, reason):
            return True
        waited = await asyncio.to_thread(self._queue.withdraw, turn_id, owner)
        if waited is None:
            return self._stop(owner, turn_id, reason)  # it may have begun meanwhile
        if (here := self._waiting.pop(turn_id, None)) and here.place is None:
            self._tell_beginning(turn_id, here)
        self._recorder.emit(
            waited.conversation_id, turn_id, TurnStopped(reason=reason), lease=waited.lease
        )
        self._news.set()
        return True

    def _stop(self, owner: str, turn_id: str, reason: str) -> bool:
        if (turn := self.find(owner, turn_id)) is not None:
            turn.stop(reason)
        elif self._foreign_owners.get(turn_id) == owner:
            self._stops[turn_id] = reason
        else:
            return False
        return True

    def stop_here(self, turn_id: str) -> None:
        """Stop a turn for another process, which has checked whose it is, if it runs here."""
        if turn_id in self._turns:
            self._turns[turn_id][2].stop(ON_REQUEST[0])
        elif turn_id in self._foreign_owners:
            self._stops[turn_id] = ON_REQUEST[0]

    @property
    def running(self) -> tuple[str, ...]:
        """The ids of the turns that run here."""
        return tuple(self._turns)

    def stop_all(self, reason: str) -> None:
        """Stop every turn that runs here."""
        for _, _, turn in self._turns.values():
            turn.stop(reason)

    async def aclose(self, reason: str, *, stays: bool = False) -> None:
        """Begin no more turns. Those that wait here are stopped; `stays`: except such as another
        process can run.
        """
        self._closed = True
        if self._looking:
            self._looking.cancel()
        await asyncio.gather(*self._tasks, *filter(None, [self._looking]), return_exceptions=True)
        for turn_id, turn in list(self._waiting.items()):
            if turn.on_end is None or not stays:
                await self.stop(turn.owner, turn_id, reason)

    def _claim_soon(self, *, changed: bool) -> asyncio.Task[None]:
        """In a context of its own, as what is begun belongs to no other turn. One look serves all
        who ask for it before it begins.
        """
        self._changed |= changed
        if self._due is None:
            self._due = asyncio.create_task(self._claim(), name="claim", context=Context())
            self._tasks.add(self._due)
            self._due.add_done_callback(self._tasks.discard)
        return self._due

    async def _claim(self) -> None:
        async with self._claiming:
            self._due, changed, self._changed = None, self._changed, False
            if self._closed:
                return
            here = (*self._turns, *self._foreign_owners)
            room = self._room() - len(here)
            try:
                claimed = await asyncio.to_thread(
                    self._queue.claim,
                    room,
                    others=self._takes_others,
                    changed=changed,
                    present=here,
                )
            except Exception:  # the database is away: `_look` tries again
                log.exception("no turn could be taken out of the queue")
                return
            for turn in claimed:
                self._begin_claimed(turn)
        if claimed or changed:
            self._news.set()

    def _begin_claimed(self, claimed: ClaimedTurn) -> None:
        if (waited := self._waiting.pop(claimed.turn_id, None)) is None:
            if self._take is not None:
                self._foreign_owners[claimed.turn_id] = claimed.owner
                self._start(self._begin_taken(self._take(claimed), claimed.turn_id))
            return
        turn, numbers = waited.begin(), None
        if waited.place is not None:
            numbers = EventNumbers([NumberedEvent(waited.started, "", 1)])
            turn.emit(TurnQueued(place=0, seconds=monotonic() - waited.since))
        self.begin(
            claimed.owner,
            claimed.conversation_id,
            claimed.turn_id,
            turn,
            numbers=numbers,
            lease=claimed.lease,
            on_end=waited.on_end,
        )

    async def _begin_taken(self, work: Coroutine[Any, Any, None], turn_id: str) -> None:
        try:
            await work
        finally:
            self._foreign_owners.pop(turn_id, None)
            self._stops.pop(turn_id, None)

    async def _look(self) -> None:
        """Tell those who wait their places, and look whether it is their turn."""
        while self._waiting:
            self._news.clear()
            with suppress(Exception):  # the database is away, which `_claim` has reported
                async with self._claiming:
                    here = tuple(self._waiting.items())  # others may come during the look
                    self._tell(here, await asyncio.to_thread(self._queue.places))
            await asyncio.sleep(_PAUSE)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._news.wait()
            await asyncio.shield(self._claim_soon(changed=False))
        self._looking = None

    def _tell(self, here: tuple[tuple[str, WaitingTurn], ...], places: dict[str, int]) -> None:
        for turn_id, turn in here:
            if turn_id not in places:  # another process took it, or it was stopped
                self._waiting.pop(turn_id, None)
                continue
            if turn.place is None:
                self._tell_beginning(turn_id, turn)
            place = TurnQueued(place=places[turn_id], reason=self._blocked())
            if turn.place != place:
                turn.place = place
                self._recorder.emit(turn.conversation_id, turn_id, place, lease=0)

    def _tell_beginning(self, turn_id: str, turn: WaitingTurn) -> None:
        """Hand out what the journal has already, to those who watch here."""
        self._recorder.emit(turn.conversation_id, turn_id, turn.started, scope="", n=1)

    async def _follow(
        self, turn_id: str, recording: Coroutine[Any, Any, None], lease: int, on_end: Ended | None
    ) -> None:
        await recording
        await self._recorder.flush()
        self._claim_soon(changed=True)
        if on_end is None or await on_end(lease):
            self._on_end(turn_id)

    async def _record(
        self,
        conversation_id: str,
        turn_id: str,
        turn: RunningTurn,
        numbers: EventNumbers,
        lease: int,
    ) -> None:
        def store(numbered: NumberedEvent) -> None:
            event, scope, n = numbered
            self._recorder.emit(conversation_id, turn_id, event, scope=scope, n=n, lease=lease)

        try:
            async for event in turn:
                if numbered := numbers.take(event):
                    store(numbered)
        except Diverged as error:
            log.error("turn %s can't go on: %s", turn_id, error)
            turn.stop()
            store(NumberedEvent(turn.failed(interrupted()), "", numbers.next))
        finally:
            del self._turns[turn_id]
