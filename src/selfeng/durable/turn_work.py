"""The start and resumption of a turn, and its work: its steps are kept in memory until it begins to
last, and then in a workflow.
"""

import asyncio
import logging
import pickle
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from selfeng.core.errors import Diverged, TakenOver
from selfeng.core.events import Event, Executing, StageEntered, TurnQueued, TurnResumed, TurnStarted
from selfeng.core.logs import logged_with
from selfeng.core.owner import owned_by
from selfeng.core.status import Asked
from selfeng.core.turn import Asking, Request
from selfeng.core.work import steps_of
from selfeng.durable.outcomes import StepOutcome
from selfeng.durable.workflows import AskedStep, Port, Workflows
from selfeng.store.journal import Journal, NewConversation
from selfeng.store.turn_queue import ClaimedTurn
from selfeng.turns.event_numbers import EventNumbers, NumberedEvent
from selfeng.turns.running_turn import RunningTurn
from selfeng.turns.turn_registry import TurnRegistry

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

log = logging.getLogger(__name__)


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
