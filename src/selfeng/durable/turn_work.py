"""The start and resumption of a turn, here or by a process that recovers it, and its work: its
steps are kept in memory until it begins to last, and then in a workflow.
"""

import asyncio
import logging
import pickle
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, starmap
from types import MappingProxyType

from pydantic import ValidationError

from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError, DatabaseUnavailable, Diverged, TakenOver
from selfeng.core.events import (
    Event,
    Executing,
    StageEntered,
    TurnQueued,
    TurnResumed,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.logs import logged_with
from selfeng.core.owner import owned_by
from selfeng.core.status import Asked
from selfeng.core.turn import Asking, Request
from selfeng.core.work import steps_of
from selfeng.durable.outcomes import StepOutcome
from selfeng.durable.workflows import AskedStep, Port, Workflows
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal, NewConversation
from selfeng.store.processes import Processes
from selfeng.store.recorder import Recorder
from selfeng.store.turn_queue import MOST_LEASES, ClaimedTurn, TurnQueue
from selfeng.turns.event_numbers import EventNumbers, NumberedEvent
from selfeng.turns.running_turn import INTERRUPTED, RunningTurn
from selfeng.turns.turn_registry import TurnRegistry

log = logging.getLogger(__name__)

_PATIENCE = 5.0
"""Seconds for the end of a turn's workflows."""
LASTING: frozenset[str] = frozenset({"specify", "mend", "refactor", "delegate"})
"""The stages from which on a turn resumes where it was; before that it begins again. A call of
another server's tool, or one with more than the usual limits, makes it resume, too.
"""

_PAID = ("model.", "lessons.")
"""Beginnings of the names of steps that serve a turn that is tried again; with other lessons its
prompts would be others.
"""
_LOOK = 1.0
"""Seconds between looks at the turns of other processes."""
_REMOVAL = 3600
"""Looks between removals of what is kept no longer."""

Resume = Callable[[ClaimedTurn, Request, Sequence[NumberedEvent]], Awaitable[None]]
"""Runs a turn, with its request and its events so far. Raises: AgentError: it can't be resumed."""


class TurnRecovery:
    """Runs the turns that other processes took into the queue or left running, and stops those that
    nobody can resume. Used on the engine's loop.
    """

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


@dataclass
class FirstStep:
    """A step before the turn began to last."""

    key: str
    name: str
    earlier_outcome: StepOutcome | None = None
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def record(self, outcome: StepOutcome) -> None:
        self.earlier_outcome = outcome
        self.end.set()


@dataclass
class RecordedStep:
    """A step that a workflow keeps."""

    key: str
    asked_step: AskedStep
    earlier_outcome: StepOutcome | None

    async def record(self, outcome: StepOutcome) -> None:
        """A step that can't be kept is done again if the process dies, and the turn continues."""
        try:
            await self.asked_step.record(pickle.dumps(outcome))
        except TakenOver:
            raise
        except Exception:  # a full disk, a broken connection
            log.exception("a step of a turn could not be kept")


class TurnWork:
    """A `Work` on the engine's loop."""

    def __init__(
        self,
        work_id: str,
        workflows: Workflows,
        earlier_steps: Sequence[tuple[str, StepOutcome]] = (),
        *,
        lasting: bool = False,
        parent: "TurnWork | None" = None,
        paid: Mapping[str, list[StepOutcome]] = MappingProxyType({}),
    ) -> None:
        """`earlier_steps` are those before the work began to last, when it is repeated. `parent`
        is the work that this is a part of. `paid` are outcomes of an earlier turn, by the names of
        their steps; each serves once.
        """
        self._id, self._workflows, self._lasting = work_id, workflows, lasting
        self._parent, self._stopped, self._kept = parent, False, False
        self._paid: Mapping[str, list[StepOutcome]] = parent._paid if parent else paid
        self._earlier_steps, self._count = tuple(earlier_steps), 0
        self._first: list[FirstStep] = []
        self._port: Port | None = None
        self._opening = asyncio.Lock()  # its queue keeps the order of the steps

    def watch(self, event: Event) -> None:
        """Call with each event of the turn, before it is handed on."""
        match event:
            case StageEntered(node=node) if node in LASTING:
                self._lasting = True
            case Executing(server=server, hosts=hosts, limits=limits) if server or hosts or limits:
                self._lasting = True

    def part(self, name: str) -> "TurnWork":
        return TurnWork(f"{self._id}/{name}", self._workflows, lasting=self._lasting, parent=self)

    @property
    def stopped(self) -> bool:
        return self._parent.stopped if self._parent else self._stopped

    def stop(self) -> None:
        self._stopped = True

    def keep(self) -> None:
        self._kept = True

    async def step(self, name: str) -> FirstStep | RecordedStep:
        step = await self._next(name)
        if step.earlier_outcome is None and (outcomes := self._paid.get(name)):
            outcome = outcomes.pop(0)
            await step.record(outcome)
            step.earlier_outcome = outcome
        return step

    async def _next(self, name: str) -> FirstStep | RecordedStep:
        number, self._count = self._count, self._count + 1
        key = f"{self._id} {number} {name}"
        if number < len(self._earlier_steps):
            recorded_name, outcome = self._earlier_steps[number]
            if recorded_name != name:
                raise Diverged(f"step {number} was {recorded_name} and is {name}")
            return FirstStep(key, name, outcome)
        if not self._lasting:
            self._first.append(step := FirstStep(key, name))
            return step
        try:
            async with self._opening:
                if self._port is None:
                    self._port = await self._open()
                asked_step = self._port.ask(name)
            text = await asked_step.earlier_outcome()
        except (Diverged, TakenOver):
            raise
        except Exception:  # a full disk, a broken connection: the turn continues, and may be lost
            log.exception("the steps of turn %s can't be kept", self._id)
            return FirstStep(key, name)
        return RecordedStep(key, asked_step, None if text is None else StepOutcome.loaded(text))

    async def finish(self, journal: Journal, lease: int) -> bool:
        """Call it when the turn's last event is stored. False if another process has taken the turn
        over since that lease, and resumes its steps.
        """
        is_holder = await asyncio.to_thread(journal.holds, self._id, lease)
        await (self.end() if is_holder else self.leave())
        return is_holder

    async def end(self) -> None:
        """Forget all steps, unless they are to be kept. Steps that stay are deleted at the next
        start.
        """
        await self._quit(partial(self._workflows.end, keep=self._kept))

    async def leave(self) -> None:
        """Another process needs the steps."""
        await self._quit(self._workflows.leave)

    async def _quit(self, how: Callable[[str], Awaitable[None]]) -> None:
        if not self._lasting:
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await how(self._id)
        except Exception:  # as above
            log.exception("the steps of turn %s can't be deleted", self._id)

    async def _open(self) -> Port:
        for step in self._first:
            await step.end.wait()
        return await self._workflows.open(
            self._id, pickle.dumps([(step.name, step.earlier_outcome) for step in self._first])
        )


def paid_outcomes(steps: Iterable[tuple[str, StepOutcome]]) -> dict[str, list[StepOutcome]]:
    """The model's replies in these steps, which cost nothing now, and the lessons that it was
    shown, by the names of the steps.
    """
    paid: dict[str, list[StepOutcome]] = {}
    for name, outcome in steps:
        if name.startswith(_PAID) and not (outcome.error or outcome.cancelled):
            paid.setdefault(name, []).append(replace(outcome, charges=(), seconds=0.0))
    return paid


Run = Callable[[TurnResumed | None, Callable[[Event], None]], RunningTurn]
"""Runs a turn, which emits the event that it was resumed, if so, and calls a function with each
event before it is handed on.
"""


class TurnStarter:
    """Begins turns, and resumes those of other processes. Without workflows no steps are kept."""

    def __init__(self, journal: Journal, turns: TurnRegistry, workflows: Workflows | None) -> None:
        self._journal, self._turns, self._workflows = journal, turns, workflows

    async def begin(
        self,
        owner: str,
        conversation_id: str,
        started: TurnStarted,
        run: Run,
        *,
        turn_id: str = "",
        new: NewConversation | None = None,
        stored_request: Request | None = None,
        lasting: bool = False,
    ) -> Asked:
        """Store the turn and have it begin when it is its turn. `stored_request` is what another
        process needs to resume it; without it none does. `lasting`: its steps are kept from the
        first one on.
        """
        workflows = self._workflows if stored_request else None
        request_json = stored_request.as_json() if stored_request and workflows else None
        turn_id = await asyncio.to_thread(
            partial(self._journal.begin_turn, new=new, waits=True, after=started.after),
            conversation_id,
            started.request,
            turn_id,
            started,
            request_json,
        )
        paid = await self._paid(stored_request)
        work = TurnWork(turn_id, workflows, lasting=lasting, paid=paid) if workflows else None
        begin = partial(self._run, owner, conversation_id, turn_id, run, work)
        on_end = partial(work.finish, self._journal) if work else None
        await self._turns.enter(owner, conversation_id, turn_id, started, begin, on_end=on_end)
        return Asked(conversation_id=conversation_id, turn_id=turn_id)

    async def go_on(
        self,
        claimed: ClaimedTurn,
        earlier_events: Sequence[NumberedEvent],
        run: Run,
        stored_request: Request,
        *,
        lasting: bool = False,
    ) -> None:
        """Run a turn that another process took into the queue, or left running; `earlier_events`
        are its events so far.
        """
        assert self._workflows is not None
        owner, conversation_id, turn_id, lease, _ = claimed
        steps = await self._workflows.resume(turn_id) if claimed.resumed else None
        from_scratch = steps is None and claimed.resumed
        lasting, paid = lasting or steps is not None, await self._paid(stored_request)
        work = TurnWork(turn_id, self._workflows, steps or (), lasting=lasting, paid=paid)
        resumed = TurnResumed(again=from_scratch) if claimed.resumed else None
        turn = self._run(owner, conversation_id, turn_id, run, work, resumed=resumed)
        if not claimed.resumed and any(
            isinstance(event, TurnQueued) for event, _, _ in earlier_events
        ):
            turn.emit(TurnQueued(place=0))
        numbers, on_end = (
            EventNumbers(earlier_events, again=from_scratch),
            partial(work.finish, self._journal),
        )
        self._turns.begin(
            owner, conversation_id, turn_id, turn, numbers=numbers, lease=lease, on_end=on_end
        )

    async def _paid(self, request: Request | None) -> dict[str, list[StepOutcome]]:
        """Outcomes of the turn that the request repeats."""
        turn_id = request.kind.again if request and isinstance(request.kind, Asking) else ""
        if not self._workflows or not turn_id:
            return {}
        try:
            return paid_outcomes(await self._workflows.kept_steps(turn_id))
        except Exception:  # as above
            log.exception("the steps of turn %s can't be read", turn_id)
            return {}

    def _run(
        self,
        owner: str,
        conversation_id: str,
        turn_id: str,
        run: Run,
        work: TurnWork | None,
        *,
        resumed: TurnResumed | None = None,
    ) -> RunningTurn:
        watch = work.watch if work else lambda _: None
        with steps_of(work), owned_by(owner), logged_with(conversation_id, turn_id):
            return run(resumed, watch)
