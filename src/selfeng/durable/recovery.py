"""Turn recovery: runs the turns that other processes took into the queue or left running, and stops
those that nobody can resume.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count, starmap

from pydantic import ValidationError

from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError, DatabaseUnavailable
from selfeng.core.events import TurnStopped
from selfeng.core.turn import Request
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.processes import Processes
from selfeng.store.recorder import Recorder
from selfeng.store.turn_queue import MOST_LEASES, ClaimedTurn, TurnQueue
from selfeng.turns.event_numbers import NumberedEvent
from selfeng.turns.running_turn import INTERRUPTED
from selfeng.turns.turn_registry import TurnRegistry

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between looks at the turns of other processes."""
_REMOVAL = 3600
"""Looks between removals of what is kept no longer."""

Resume = Callable[[ClaimedTurn, Request, Sequence[NumberedEvent]], Awaitable[None]]
"""Runs a turn, with its request and its events so far. Raises: AgentError: it can't be resumed."""


class TurnRecovery:
    """Used on the engine's loop."""

    def __init__(
        self,
        resume: Resume | None,
        turns: TurnRegistry,
        queue: TurnQueue,
        *,
        journal: Journal,
        files: ConversationFiles,
        processes: Processes,
        recorder: Recorder,
        sweep: Callable[[], object],
        unready: Callable[[], str],
        changed: Changes[[]],
        background: BackgroundTasks,
    ) -> None:
        """Without `resume`, no turn outlives its process. `sweep` removes, in a thread, what is
        kept no longer. `unready` is why a turn would have to wait here, "" if it would not;
        `changed` reports when that may be another reason.
        """
        self._resume, self._turns, self._queue = resume, turns, queue
        self._journal, self._processes, self._recorder = journal, processes, recorder
        self._files, self._sweep = files, sweep
        self._unready, self._changed, self._background = unready, changed, background
        self._unbegun: list[ClaimedTurn] = []
        """Those that were taken out of the queue and could not begin here."""

    @property
    def hands_over(self) -> bool:
        """Whether other processes resume the turns of this one when it ends."""
        return self._resume is not None and self._queue.shared

    async def start(self, *, once_ready: bool = False) -> None:
        """From now on run the turns that wait in the queue, as far as there is room, and those that
        killed servers left running; those that can't be resumed end with an event that says so.
        Call it before the first request. `once_ready`: not before what a turn needs is set up,
        which other processes see.
        """
        if self._resume:
            if once_ready:
                self._processes.unready = self._unready()
            on_loop = asyncio.get_running_loop().call_soon_threadsafe
            give_up = partial(on_loop, lambda: self._background.start(self._let_go()))
            await asyncio.to_thread(self._processes.begin, give_up)
            if once_ready:
                await self._until_ready()
            await asyncio.to_thread(self._journal.release_lost)
            self._turns.take_others()
            self._background.start(self._watch())
        await self._stop_abandoned_turns()

    async def take(self, claimed: ClaimedTurn) -> None:
        """Run a turn that another process took into the queue, or left running."""
        try:
            await self._begin(claimed)
        except Exception:  # the database of the steps is away, or broken
            log.exception("turn %s could not begin", claimed.turn_id)
            if claimed.lease < MOST_LEASES:
                self._unbegun.append(claimed)
            else:
                self._interrupt(claimed)

    async def _begin(self, claimed: ClaimedTurn) -> None:
        assert self._resume
        numbered = await asyncio.to_thread(self._journal.numbered, claimed.turn_id)
        try:
            contents = self._files.contents(claimed.conversation_id)
            request = await asyncio.to_thread(Request.from_json, claimed.given or "", contents)
            await self._resume(claimed, request, tuple(starmap(NumberedEvent, numbered)))
        except DatabaseUnavailable:
            raise
        except (AgentError, ValidationError):  # another version wrote it, or a file of it is gone
            log.exception("turn %s can't go on", claimed.turn_id)
            self._interrupt(claimed)

    def _interrupt(self, claimed: ClaimedTurn) -> None:
        last = TurnStopped(reason=INTERRUPTED, by="server")
        self._recorder.emit(claimed.conversation_id, claimed.turn_id, last, lease=claimed.lease)

    async def _until_ready(self) -> None:
        changed = asyncio.Event()
        self._changed.subscribe(changed.set)
        while reason := self._unready():
            self._processes.unready = reason
            changed.clear()
            await changed.wait()
        self._processes.unready = ""
        await asyncio.to_thread(self._processes.beat)  # the others know it at once

    async def _watch(self) -> None:
        for look in count(1):
            await asyncio.sleep(_LOOK)
            try:
                if look % _REMOVAL == 0:
                    await asyncio.to_thread(self._sweep)
                while self._unbegun:
                    await asyncio.to_thread(self._queue.give_back, self._unbegun[-1])
                    self._unbegun.pop()
                if await asyncio.to_thread(self._journal.any_lost):
                    await asyncio.to_thread(self._journal.release_lost)
                    await self._stop_abandoned_turns()
                self._turns.reconsider(changed=False)
            except Exception as error:  # noqa: BLE001 - the database is away
                log.warning("the turns of other processes could not be looked after: %s", error)

    async def _let_go(self) -> None:
        """Other processes took this one for gone, as it was frozen, and continue its turns."""
        here = set(self._turns.running)  # before the look: a turn may begin meanwhile
        for turn_id in here - await asyncio.to_thread(self._journal.held):
            self._turns.stop_here(turn_id)

    async def _stop_abandoned_turns(self) -> None:
        """Mark turns that killed servers left running as stopped, and remove what is kept no
        longer.
        """
        await asyncio.to_thread(self._journal.stop_abandoned_turns)
        await asyncio.to_thread(self._sweep)
