"""The feed: hands every record on once and in order, those that this process appends and those
that others do.

The records of other processes are read when their news arrive, of the conversations that are
watched here. Where a record does not follow on what was handed on before, what lies between is
read first; so neither news that come late nor lost ones leave a gap.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import groupby

from selfeng.core.events import Record
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder, Subscriber, Subscribers

log = logging.getLogger(__name__)

_MOST = 20_000
"""Conversations that are watched; those that were watched longest ago are forgotten."""
_PAUSE = 1.0
"""Seconds until a failing database is read again."""


class Feed:
    """Create and use it on one event loop."""

    def __init__(self, journal: Journal, recorder: Recorder) -> None:
        self._journal = journal
        self._subscribers = Subscribers()
        self._last: OrderedDict[str, int] = OrderedDict()
        """By watched conversation, the number of the last record that was handed on."""
        self._due: set[str] = set()
        """Conversations with records to be read."""
        self._work = asyncio.Event()
        self._losses = 0
        recorder.subscribe(self._take_own)
        self._task = asyncio.create_task(self._run(), name="feed")

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` on the loop with the records of this process and, of watched
        conversations, those of others; returns a function that unsubscribes it.
        """
        return self._subscribers.subscribe(callback)

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
        """Another process appended: `<conversation>:<number of the last record>`."""
        conversation_id, _, seq = about.rpartition(":")
        if self._last.get(conversation_id, int(seq)) < int(seq):
            self._read(conversation_id)

    def lost(self) -> None:
        """News may have been lost: read what they would have been about."""
        self._losses += 1
        self._read(*self._last)

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
        self._subscribers.tell(ready)

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
        self._subscribers.tell(ready)
