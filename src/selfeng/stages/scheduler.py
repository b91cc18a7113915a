"""Schedules: begins the runs that are due, each as a turn that calls a tool without a model, and
pauses those whose runs need a person.

A process takes a run by one change in SQL, which names the turn that the run becomes. So none is
lost or done twice wherever a process ends: any process begins a turn that is not there, and the
queue goes on with one that is.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import chain, count
from typing import Any
from uuid import uuid4

from sqlalchemy.exc import IntegrityError

from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import (
    AgentError,
    LimitReached,
    RequestError,
    ResourceBusy,
    ResourceNotFound,
)
from selfeng.core.events import (
    FINAL,
    DeliveryFailed,
    Event,
    FilesMade,
    TurnFinished,
    TurnStopped,
)
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.protocols import ToolLibrary
from selfeng.core.question import NO, ONCE, Answer
from selfeng.core.schedule import Schedule, ScheduledRun, SchedulePlan
from selfeng.core.status import Asked
from selfeng.core.tool import Tool
from selfeng.core.turn import HandCall, Request, ScheduleAnswer, texts_in
from selfeng.core.visible import one_line
from selfeng.core.words import shortened
from selfeng.servers.deliveries import Deliveries, RunResult
from selfeng.stages.ending import problem_of
from selfeng.stages.execution.arguments import ArgumentsInvalid, bind, bind_by_hand
from selfeng.stages.watched_folders import WatchedFolders
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.journal import Journal
from selfeng.store.schedules import Schedules
from selfeng.synthesis.probe import shown_call
from selfeng.turns.turn_registry import TurnRegistry

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between looks at what is due."""
_OTHERS = timedelta(seconds=5)
"""How long a process has to begin the turn of a run that it took; then another one does."""
_MOST_TRIES = 3
"""How often a run begins again after its process was ended in order."""
_BY_HAND = "paused by hand"
_SHOWN = 500
"""Characters of what a run came to, in a list."""


def run_id(schedule: Schedule, due_at: datetime, tries: int = 0) -> str:
    """Id of the turn of the run that is due then, after as many that were stopped: the same in
    every process.
    """
    return sha256(f"{schedule.id} {due_at.isoformat()} {tries}".encode()).hexdigest()[:32]


class Scheduler:
    """Used on the engine's loop."""

    def __init__(
        self,
        schedules: Schedules,
        library: ToolLibrary,
        begin: Callable[[str, Request, str], Awaitable[Asked]],
        turns: TurnRegistry,
        *,
        journal: Journal,
        files: ConversationFiles,
        deliveries: Deliveries,
        folders: WatchedFolders,
        background: BackgroundTasks,
        emit: Callable[[str, str, DeliveryFailed], object],
    ) -> None:
        """`begin` begins the turn of an owner's request, with an id. Deliveries are made in the
        `background`. `emit` adds an event to a turn of a conversation.
        """
        self._folders, self._emit = folders, emit
        self._begun_by_file: dict[str, set[str]] = {}
        """Which versions of files need no look any more, by the schedule's id."""
        self._deliveries, self._background = deliveries, background
        self._schedules, self._library, self._begin_turn = schedules, library, begin
        self._turns, self._journal, self._files = turns, journal, files
        self._since = datetime.now(UTC)

    async def add(
        self, owner: str, plan: SchedulePlan, files: Sequence[File] = (), schedule_id: str = ""
    ) -> Schedule:
        """Keep a schedule, with a conversation of its own, which has the files and gets the runs;
        once, however often it is added with the same id.

        Raises:
            ToolNotFound, ToolModified, VersionNotFound
            RequestError: the arguments don't fit the tool, times or time zone are wrong, or the
                name is taken; or the results can't go where they should.
            LimitReached: there are too many.
        """
        now, tool = datetime.now(UTC), await self._tool(plan)
        due = plan.next_due(now)
        arguments = dict(plan.arguments)
        if plan.cron:  # what a request brings may be missing
            arguments = bind_by_hand(tool.signature, arguments)
        by_name = {schedule.name: schedule for schedule in await self.list(owner)}
        for added in by_name.values():
            if added.id == schedule_id:
                return added
        numbered = (f"{tool.name} {number}" for number in count(2))
        free = next(name for name in chain([tool.name], numbered) if name not in by_name)
        name = one_line(plan.name.strip()) or free
        schedule = Schedule(
            **dict(plan) | {"name": name, "version": tool.version, "arguments": arguments},
            id=schedule_id or uuid4().hex,
            owner=owner,
            files=tuple(file.reference() for file in files),
            conversation_id=uuid4().hex,
            created_at=now,
            next_at=due,
        )
        if watch := schedule.watch:
            await asyncio.to_thread(self._folders.check, watch)
            unset = [p.name for p in tool.signature.parameters if p.name not in arguments]
            watch = watch.model_copy(update={"parameter": watch.parameter or next(iter(unset), "")})
            bind_by_hand(tool.signature, {**arguments, watch.parameter: "a file"})
            schedule = schedule.model_copy(update={"watch": watch})
        await self._deliveries.check(schedule.hook)
        await self._deliveries.allow(schedule)
        try:
            await asyncio.to_thread(self._schedules.put, schedule, files)
        except AgentError:
            await self._deliveries.forget(schedule)
            raise
        return schedule

    async def answer(
        self,
        owner: str,
        plan: SchedulePlan,
        answer: Answer,
        place: tuple[str, str | None],
    ) -> ScheduleAnswer | HandCall:
        """The kind of the turn that a person's answer to the question about a schedule begins. If
        they agree, the schedule is added first with the files that it names, once however often the
        question is answered. `place`: the conversation, and the turn after which.

        Raises: as `add`.
        """
        if answer.value == NO:
            return ScheduleAnswer()
        if answer.value == ONCE:
            call = FunctionCall(name=plan.tool, arguments=plan.arguments)
            return HandCall(call=call, version=plan.version)
        conversation_id, after = place
        names = set(texts_in(dict(plan.arguments)))
        newest = await asyncio.to_thread(partial(self._files.newest, conversation_id, after=after))
        read = self._files.contents(conversation_id).file
        files = [await asyncio.to_thread(read, file) for file in newest if file.name in names]
        messages = await asyncio.to_thread(
            partial(self._journal.messages, conversation_id, after=after)
        )
        question = f"{owner} {conversation_id} {len(messages)} {plan.model_dump_json()}"
        schedule_id = sha256(question.encode()).hexdigest()[:32]
        schedule = await self.add(owner, plan, files, schedule_id)
        return ScheduleAnswer(added=plan.model_copy(update={"name": schedule.name}))

    async def list(self, owner: str) -> tuple[Schedule, ...]:
        """Those of an owner, by name."""
        return await asyncio.to_thread(self._schedules.read, owner)

    async def get(self, owner: str, name: str) -> Schedule:
        """One by its name or id. Raises: ResourceNotFound."""
        return await asyncio.to_thread(self._schedules.find, owner, name)

    async def start(self, owner: str, name: str) -> Asked:
        """Begin a run now, also of a paused schedule.

        Raises: ResourceNotFound, also if its conversation was deleted. LimitReached: too many
            requests wait. ResourceBusy: a run goes on.
        """
        return await self._start(await self.get(owner, name), uuid4().hex)

    async def _start(
        self,
        schedule: Schedule,
        run: str,
        extra: Mapping[str, Any] | None = None,
        files: Sequence[File] = (),
    ) -> Asked:
        await self._turns.check(schedule.owner, schedule.conversation_id)
        begin = partial(self._schedules.begin, extra=extra, files=files)
        if not await asyncio.to_thread(begin, schedule, run, datetime.now(UTC), schedule.next_at):
            raise ResourceBusy(f"{schedule.name!r} runs already", "wait until it has ended")
        references = tuple(file.reference() for file in files)
        schedule = schedule.model_copy(update={"extra": extra or {}, "run_files": references})
        return await self._begin_or_give_up(schedule, run)

    async def receive(self, schedule_id: str, headers: Mapping[str, str], body: bytes) -> Asked:
        """Begin the run that a signed request asks for, once however often it comes.

        Raises:
            ResourceNotFound: no schedule has a hook of that id, or the signature is wrong or old.
            RequestError: the body is no arguments of the tool, which pauses the schedule.
            ResourceBusy: it is paused, or a run goes on. LimitReached: too many requests wait.
        """
        schedule = await asyncio.to_thread(self._schedules.with_hook, schedule_id)
        if not schedule or not await self._deliveries.is_signed(schedule.hook, headers, body):
            raise ResourceNotFound(
                "there is no such hook, or the signature is wrong",
                "sign the body as Standard Webhooks says, with the secret of the schedule",
            )
        message_id = next(v for name, v in headers.items() if name.lower() == "webhook-id")
        run = sha256(f"{schedule.id} hook {message_id}".encode()).hexdigest()[:32]
        if conversation := await asyncio.to_thread(self._journal.conversation_of, run):
            return Asked(conversation_id=conversation, turn_id=run)
        if schedule.state == "paused":
            raise ResourceBusy(f"{schedule.name!r} is paused", "send it again once it is resumed")
        try:
            signature = (await self._tool(schedule)).signature
            extra = bind(signature, {**schedule.arguments, **_object(body)})
        except (ValueError, ArgumentsInvalid) as error:
            problem = RequestError(f"a request is malformed: {error}", "correct who sends it")
            await self._give_up(schedule, problem)
            raise problem from error
        return await self._start(schedule, run, extra)

    async def settled(self, owner: str, name: str) -> Schedule:
        """The schedule, with the end of its run noted if that has ended. Raises:
        ResourceNotFound.
        """
        schedule = await self.get(owner, name)
        return await self._follow(schedule) if schedule.run else schedule

    async def pause(self, owner: str, name: str) -> Schedule:
        """Begin no more runs; one that has begun goes on. Raises: ResourceNotFound."""
        schedule = await self.get(owner, name)
        await asyncio.to_thread(self._schedules.pause, schedule, _BY_HAND)
        return await self.get(owner, schedule.id)

    async def resume(self, owner: str, name: str) -> Schedule:
        """Begin runs again, from the next time on. Its conversation is restored if it was deleted.

        Raises: ResourceNotFound, also if the conversation is gone.
        """
        schedule = await self.get(owner, name)
        restored = ConversationChange(deleted=False)
        change = self._journal.change_conversation
        await asyncio.to_thread(change, owner, schedule.conversation_id, restored)
        due = schedule.next_due(datetime.now(UTC))
        await asyncio.to_thread(self._schedules.resume, schedule, due)
        return await self.get(owner, schedule.id)

    async def remove(self, owner: str, name: str) -> None:
        """Its conversation stays, with the results. Raises: ResourceNotFound."""
        schedule = await self.get(owner, name)
        await asyncio.to_thread(self._schedules.remove, schedule)
        await self._deliveries.forget(schedule)
        if schedule.run:
            await self._stop(schedule, "Its schedule was removed.")

    async def run(self) -> None:
        """Look after all schedules, as long as a server runs."""
        while True:
            await asyncio.sleep(_LOOK)
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - the database is away
                log.warning("the schedules could not be looked after: %s", error)

    async def look(self) -> None:
        """Begin what is due, or has a new file, and note what has ended."""
        for row in await asyncio.to_thread(self._schedules.due, datetime.now(UTC)):
            async with self._guarded(row):
                schedule = await self._follow(row) if row.run else row
                async with self._guarded(schedule):
                    if not schedule.run and schedule.state == "active":
                        await self._take(schedule)
        for schedule in await asyncio.to_thread(self._schedules.watching):
            async with self._guarded(schedule):
                await self._look_for_files(schedule)

    @asynccontextmanager
    async def _guarded(self, schedule: Schedule) -> AsyncIterator[None]:
        """An error of one schedule pauses it or is logged: the others still run."""
        try:
            yield
        except LimitReached as error:
            log.info("%s waits: %s", schedule.name, error)
        except AgentError as error:
            await self._give_up(schedule, error)
        except Exception:
            log.exception("the schedule %s could not be looked after", schedule.id)

    async def _look_for_files(self, schedule: Schedule) -> None:
        """Begin a run for the oldest version of a file that had none."""
        assert schedule.watch, schedule.id
        looked_up = self._begun_by_file.setdefault(schedule.id, set())
        complete, after = self._folders.complete, schedule.created_at
        for version in await asyncio.to_thread(complete, schedule.watch, after):
            run = sha256(f"{schedule.id} file {version}".encode()).hexdigest()[:32]
            if run in looked_up:
                continue
            if await asyncio.to_thread(self._journal.conversation_of, run):
                looked_up.add(run)
            elif file := await asyncio.to_thread(self._folders.read, version):
                with suppress(ResourceBusy):  # another process has begun a run
                    await self._start(schedule, run, {schedule.watch.parameter: file.name}, (file,))
                return

    async def _take(self, schedule: Schedule) -> None:
        """Begin the run that is due, unless it was missed, or another process does."""
        now = datetime.now(UTC)
        if schedule.next_at > now:
            return
        moments = schedule.due_now(schedule.next_at, now)
        next_at = moments[1] if len(moments) > 1 else schedule.next_due(now)
        if not moments:
            await asyncio.to_thread(self._schedules.skip, schedule, next_at)
            return
        run = run_id(schedule, moments[0])
        if await asyncio.to_thread(self._schedules.begin, schedule, run, moments[0], next_at):
            with suppress(AgentError):  # of which the schedule tells
                await self._begin_or_give_up(schedule, run)

    async def _begin_or_give_up(self, schedule: Schedule, run: str) -> Asked:
        """Begin a run that was taken as this turn. Raises: AgentError: it could not begin, and the
        schedule is paused; or LimitReached: it begins later.
        """
        schedule = schedule.model_copy(update={"run": run})
        try:
            return await self._begin(schedule)
        except LimitReached:
            raise
        except AgentError as error:
            await self._give_up(schedule, error)
            raise

    async def _begin(self, schedule: Schedule) -> Asked:
        """Begin the turn of the run, unless another process has. Raises: ResourceNotFound."""
        await self._turns.check(schedule.owner, schedule.conversation_id)
        read = self._files.contents(schedule.conversation_id).file
        arguments = {**schedule.arguments, **schedule.extra}
        files = (*schedule.files, *schedule.run_files)
        call = FunctionCall(name=schedule.tool, arguments=arguments)
        request = Request(
            f"Run {shortened(shown_call(schedule.tool, arguments), _SHOWN)}",
            files=tuple([await asyncio.to_thread(read, file) for file in files]),
            conversation_id=schedule.conversation_id,
            kind=HandCall(call=call, version=schedule.version, schedule=schedule.name),
        )
        try:
            return await self._begin_turn(schedule.owner, request, schedule.run)
        except IntegrityError:
            return Asked(conversation_id=schedule.conversation_id, turn_id=schedule.run)

    async def _follow(self, schedule: Schedule) -> Schedule:
        """Note the end of a run, or see to it that it comes to one; the schedule afterwards."""
        now, began = datetime.now(UTC), schedule.begun_at or schedule.created_at
        numbered = await asyncio.to_thread(self._journal.numbered, schedule.run)
        events = [event for event, *_ in numbered]
        is_late = now - max(began, self._since) > timedelta(seconds=schedule.seconds)
        if last := next((event for event in events if isinstance(event, FINAL)), None):
            await self._end(schedule, events, last, again=not is_late)
            return await self.get(schedule.owner, schedule.id)
        if is_late:
            reason = f"a run took more than {schedule.seconds} seconds"
            outcome = self._outcome(schedule, reason)
            await asyncio.to_thread(self._schedules.pause, schedule, reason, outcome)
            await self._stop(schedule, f"It took more than {schedule.seconds} seconds.")
        elif not events and now - began > _OTHERS:
            await self._begin(schedule)
        return schedule

    async def _stop(self, schedule: Schedule, reason: str) -> None:
        """Stop a run, in whatever process."""
        if not await self._turns.stop(schedule.owner, schedule.run, reason):
            stop = self._journal.request_stop
            await asyncio.to_thread(stop, schedule.owner, schedule.run)

    async def _end(
        self, schedule: Schedule, events: Sequence[Event], last: Event, *, again: bool
    ) -> None:
        """Note how a run ended; one that was stopped with its process begins `again`."""
        problem = problem_of(events)
        is_stopped = isinstance(last, TurnStopped) and last.by == "server"
        if is_stopped and again and schedule.tries < _MOST_TRIES:
            run = run_id(schedule, schedule.due_at or schedule.next_at, schedule.tries + 1)
            if await asyncio.to_thread(self._schedules.begin_again, schedule, run):
                await self._begin_or_give_up(schedule, run)
            return
        if schedule.state == "paused" and schedule.last and schedule.last.turn_id == schedule.run:
            problem = schedule.last.problem  # it took too long, and was stopped
        text = last.answer if isinstance(last, TurnFinished) else ""
        if schedule.deliver and not problem:
            if await asyncio.to_thread(self._schedules.deliver, schedule):
                self._background.start(self._deliver(schedule, events, text))
            return
        outcome = self._outcome(schedule, problem, text)
        await asyncio.to_thread(self._schedules.end, schedule, outcome)

    async def _deliver(self, schedule: Schedule, events: Sequence[Event], text: str) -> None:
        """Deliver the result of a run, and note its end; what can't be delivered pauses."""
        problem: AgentError | None = None
        try:
            outcome = await asyncio.to_thread(self._result, schedule, events, text)
            await self._deliveries.deliver(schedule, outcome)
        except AgentError as error:
            problem = error
        except Exception as error:  # as a run must not end unseen
            log.exception("the result of the schedule %s was not delivered", schedule.id)
            problem = AgentError(type(error).__name__, "look into the server's log")
        words = f"the result was not delivered: {_words(problem)}" if problem else ""
        if problem:
            failure = DeliveryFailed(schedule=schedule.name, **problem.event_fields)
            self._emit(schedule.conversation_id, schedule.run, failure)
        last = self._outcome(schedule, words, text)
        await asyncio.to_thread(self._schedules.end, schedule, last)

    def _result(self, schedule: Schedule, events: Sequence[Event], text: str) -> RunResult:
        """The result of a run. Blocking."""
        read = self._files.contents(schedule.conversation_id).file
        file_events = [e for e in events if isinstance(e, FilesMade)]
        result = None
        with suppress(ResourceNotFound):  # the tool returned no plain value
            result = self._files.result_of_turn(schedule.owner, schedule.run)
        files = tuple(read(reference) for event in file_events for reference in event.files)
        return RunResult(text=text, result=result, files=files)

    async def _give_up(self, schedule: Schedule, error: AgentError) -> None:
        """Pause a schedule of which no run can begin."""
        reason = _words(error)
        log.warning("the schedule %s is paused: %s", schedule.id, reason)
        last = self._outcome(schedule.model_copy(update={"run": ""}), reason)
        end = partial(self._schedules.end, schedule, last)
        pause = partial(self._schedules.pause, schedule, reason, last)
        await asyncio.to_thread(end if schedule.run else pause)

    def _outcome(self, schedule: Schedule, problem: str, text: str = "") -> ScheduledRun:
        return ScheduledRun(
            turn_id=schedule.run,
            due_at=schedule.due_at or schedule.next_at,
            ended_at=datetime.now(UTC),
            problem=shortened(problem, _SHOWN),
            text=shortened(text, _SHOWN),
        )

    async def _tool(self, plan: SchedulePlan) -> Tool:
        """Raises: ToolNotFound, ToolModified, VersionNotFound."""
        tool = await self._library.get(plan.tool)
        if plan.version in (0, tool.version):
            return tool
        return (await self._library.version(plan.tool, plan.version)).tool


def _words(error: AgentError) -> str:
    """The error and its remedy, in one line."""
    return one_line(": ".join(filter(None, (error.message, error.remedy))))


def _object(body: bytes) -> dict[str, Any]:
    """Raises: ValueError: it is not JSON of an object."""
    value = json.loads(body or b"{}")
    if not isinstance(value, dict):
        raise ValueError("the body is not a JSON object")
    return value
