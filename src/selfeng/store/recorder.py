"""The recorder: takes events on an event loop, stores them in the journal and passes them to the
subscribers.

A failing database must neither delay a turn nor lose it: the recorder tries a few times, then
delivers the events with the number 0, keeps them in memory, and delivers them again, numbered, as
soon as the journal accepts them.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from selfeng.core.changes import Changes
from selfeng.core.events import AnswerToken, Event, Record, SynthesisStep, merge
from selfeng.core.logs import log_event, logged_with
from selfeng.store.journal import JournalEntry

Subscriber = Callable[[list[Record]], None]

log = logging.getLogger(__name__)


class Subscribers(Changes[list[Record]]):
    """Those who get records, on one event loop."""

    def tell(self, records: list[Record]) -> None:
        for subscriber in tuple(self._listeners.values()) if records else ():
            try:
                subscriber(records)
            except Exception:
                log.exception("a subscriber failed")  # it must not take the others' events away


class EventLog(Protocol):
    """What the recorder needs of a journal."""

    def append(self, entries: Sequence[JournalEntry]) -> list[Record]: ...


class Recorder:
    """Writes events in batches: pieces of streams `window` seconds after the last batch was stored,
    so that a slow database gets fewer and larger ones, anything else immediately.

    Create and use it on one event loop. `pauses` are the seconds between the first attempts at a
    failing database; after that it is tried with each batch, or every `retry` seconds.
    """

    def __init__(
        self,
        journal: EventLog,
        window: float = 0.025,
        pauses: Sequence[float] = (0.05, 0.2, 1.0),
        retry: float = 5.0,
    ) -> None:
        self._journal = journal
        self._window = window
        self._pauses = pauses
        self._retry = retry
        self._pending: list[JournalEntry] = []
        self._newest: dict[str, int] = {}  # turn id → index of its newest event in `_pending`
        self._unstored: list[
            JournalEntry
        ] = []  # delivered with the number 0, not in the journal yet
        self._subscribers = Subscribers()
        self._waiters: list[asyncio.Future[None]] = []
        self._work, self._urgent, self._closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="recorder")

    def emit(
        self,
        conversation_id: str,
        turn_id: str,
        event: Event,
        *,
        scope: str | None = None,
        n: int | None = None,
        lease: int | None = None,
    ) -> None:
        """Take an event; cheap. Call it on the loop. The rest is that of a `JournalEntry`."""
        if self._task.done():
            log.error("%s of turn %s came after the journal was closed", event.type, turn_id)
            return
        with logged_with(conversation_id, turn_id):
            log_event(event)
        index = self._newest.get(turn_id)
        merged = merge(self._pending[index].event, event) if index is not None else None
        if index is not None and merged is not None:
            self._pending[index] = replace(self._pending[index], event=merged)
            return
        self._newest[turn_id] = len(self._pending)
        now = datetime.now(UTC)
        self._pending.append(JournalEntry(conversation_id, turn_id, now, event, scope, n, lease))
        self._work.set()
        if not _is_piece(event):
            self._urgent.set()

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` on the loop with every record from now on, in order; returns a function
        that unsubscribes it.
        """
        return self._subscribers.subscribe(callback)

    async def flush(self) -> None:
        """Return when everything emitted so far has been delivered."""
        if self._task.done():
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._work.set()
        self._urgent.set()
        await waiter

    async def aclose(self) -> None:
        """Store and deliver the remaining events, then end, without waiting for a failing
        database.
        """
        self._closing.set()
        self._work.set()
        self._urgent.set()
        await self._task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self._closing.is_set() or self._pending or self._waiters:
            await _either(self._work, self._retry if self._unstored else None)
            await _either(self._urgent, due - loop.time())
            self._work.clear()
            self._urgent.clear()
            batch, self._pending, self._newest = self._pending, [], {}
            waiters, self._waiters = self._waiters, []
            try:
                if batch or self._unstored:
                    self._subscribers.tell(await self._keep(batch))
            finally:
                due = loop.time() + self._window
                for waiter in waiters:
                    if not waiter.done():
                        waiter.set_result(None)
        if self._unstored:
            log.error("%d events could not be stored in the journal", len(self._unstored))

    async def _keep(self, batch: list[JournalEntry]) -> list[Record]:
        overdue = self._unstored
        for pause in (*self._pauses, None):
            try:
                records = await asyncio.to_thread(self._journal.append, [*overdue, *batch])
                self._unstored = []
                return records
            except Exception:  # a full disk, a broken connection, a bug: turns continue in any case
                log.exception("the journal could not store %d events", len(batch) + len(overdue))
            if (
                pause is None or overdue or self._closing.is_set()
            ):  # while it stays broken, one attempt per batch is enough
                break
            await _either(self._closing, pause)
        self._unstored = [*overdue, *batch]
        return [
            Record(
                conversation_id=e.conversation_id, seq=0, turn_id=e.turn_id, at=e.at, event=e.event
            )
            for e in batch
        ]


def _is_piece(event: Event) -> bool:
    return isinstance(event, AnswerToken) or (
        isinstance(event, SynthesisStep) and event.state == "streaming"
    )


async def _either(event: asyncio.Event, seconds: float | None) -> None:
    """Wait until the event is set, for at most `seconds` if given."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
