"""The recorder: takes events on an event loop, stores them in the journal and passes them to the
subscribers; the feed adds those of other processes.

A failing database must neither delay a turn nor lose it: the recorder tries a few times, then
delivers the events with the number 0, keeps them in memory, and delivers them again, numbered, as
soon as the journal accepts them.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby

from selfeng.core.changes import Changes
from selfeng.core.events import FINAL, Event, Record, TurnStarted, merge
from selfeng.core.logs import log_event, logged_with
from selfeng.store.journal import Journal, JournalEntry

log = logging.getLogger(__name__)

_MOST = 20_000
"""Conversations that are watched; those that were watched longest ago are forgotten."""
_PAUSE = 1.0
"""Seconds until a failing database is read again."""


class Subscribers(Changes[list[Record]]):
    """Those who get records, on one event loop."""

    def tell(self, records: list[Record]) -> None:
        for subscriber in tuple(self._listeners.values()) if records else ():
            try:
                subscriber(records)
            except Exception:
                log.exception("a subscriber failed")  # it must not take the others' events away

    @contextmanager
    def listening(self, is_own: Callable[[Record], bool]) -> Iterator[asyncio.Queue[list[Record]]]:
        """A queue of the records from now on, in the batches in which they come: of many listeners,
        each wakes once for a batch that has any of its own.
        """
        queue: asyncio.Queue[list[Record]] = asyncio.Queue()
        unsubscribe = self.subscribe(
            lambda records: queue.put_nowait(records) if any(map(is_own, records)) else None
        )
        try:
            yield queue
        finally:
            unsubscribe()


class Recorder(Subscribers):
    """Writes events in batches: the begin and the end of a turn immediately, anything else `window`
    seconds after the last batch was stored, so that a slow database gets fewer and larger ones.

    Its subscribers get every record, in order. Create and use it on one event loop. `pauses` are
    the seconds between the first attempts at a failing database; after that it is tried with each
    batch, or every `retry` seconds.
    """

    def __init__(
        self,
        journal: Journal,
        window: float = 0.05,
        pauses: Sequence[float] = (0.05, 0.2, 1.0),
        retry: float = 5.0,
    ) -> None:
        super().__init__()
        self._journal = journal
        self._window = window
        self._pauses = pauses
        self._retry = retry
        self._pending: list[JournalEntry] = []
        self._newest: dict[str, int] = {}  # turn id → index of its newest event in `_pending`
        self._unstored: list[
            JournalEntry
        ] = []  # delivered with the number 0, not in the journal yet
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
        if isinstance(event, (TurnStarted, *FINAL)):
            self._urgent.set()

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
                    self.tell(await self._keep(batch))
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


async def _either(event: asyncio.Event, seconds: float | None) -> None:
    """Wait until the event is set, for at most `seconds` if given."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


class Feed(Subscribers):
    """Hands every record on once and in order to its subscribers, those that this process appends
    and those that others do in watched conversations. Create and use it on one event loop.

    The records of other processes are read when their news arrive, of the conversations that are
    watched here. Where a record does not follow on what was handed on before, what lies between is
    read first; so neither news that come late nor lost ones leave a gap.
    """

    def __init__(self, journal: Journal, recorder: Recorder) -> None:
        super().__init__()
        self._journal = journal
        self._last: OrderedDict[str, int] = OrderedDict()
        """By watched conversation, the number of the last record that was handed on."""
        self._due: set[str] = set()
        """Conversations with records to be read."""
        self._work = asyncio.Event()
        self._losses = 0
        recorder.subscribe(self._take_own)
        self._task = asyncio.create_task(self._run(), name="feed")

    async def watch(self, conversation_id: str, *, new: bool = False) -> None:
        """From now on, hand on everything that is appended to the conversation. `new`: it has not
        begun.
        """
        if new:
            self._last[conversation_id] = 0
        while conversation_id not in self._last:
            losses = self._losses
            last = await asyncio.to_thread(self._journal.last_seq, conversation_id)
            if losses == self._losses:
                self._last.setdefault(conversation_id, last)
        self._last.move_to_end(conversation_id)
        while len(self._last) > _MOST:
            self._last.popitem(last=False)

    def news(self, about: str) -> None:
        """Another process appended: `<conversation>:<number of the last record>`, or, if it is "",
        anything, as news may have been lost.
        """
        if not about:
            self._losses += 1
            self._read(*self._last)
            return
        conversation_id, _, seq = about.rpartition(":")
        if self._last.get(conversation_id, int(seq)) < int(seq):
            self._read(conversation_id)

    async def aclose(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _take_own(self, records: list[Record]) -> None:
        ready: list[Record] = []
        for record in records:
            last = self._last.get(record.conversation_id)
            if record.seq == 0 or last is None:  # not stored yet, or nobody watches it
                ready.append(record)
            elif record.seq == last + 1:
                self._last[record.conversation_id] = record.seq
                ready.append(record)
            elif record.seq > last:
                self._read(record.conversation_id)
        self.tell(ready)

    def _read(self, *conversations: str) -> None:
        self._due.update(conversations)
        self._work.set()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            due, self._due = self._due, set()
            after = {name: self._last[name] for name in due if name in self._last}
            try:
                records = await asyncio.to_thread(self._journal.records_after, after)
            except Exception:
                log.exception("records of other processes can't be read; trying again")
                await asyncio.sleep(_PAUSE)
                self._read(*due)
            else:
                self._take_read(records)

    def _take_read(self, records: Sequence[Record]) -> None:
        ready = [r for r in records if r.seq > self._last.get(r.conversation_id, r.seq)]
        for conversation_id, run in groupby(ready, key=lambda record: record.conversation_id):
            self._last[conversation_id] = max(record.seq for record in run)
        self.tell(ready)
