"""The engine: conversations with their turns, and the library that they use."""

import asyncio
import json
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes, Renewed
from selfeng.core.consent_question import consents_of
from selfeng.core.errors import (
    LibraryError,
    RequestError,
    ResourceBusy,
)
from selfeng.core.events import (
    FINAL,
    Event,
    QuestionsAsked,
    Record,
    TurnStarted,
)
from selfeng.core.files import File, FileLimits
from selfeng.core.owner import owned_by
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import CONSENTS, NO, Answer, answers_text, completed
from selfeng.core.result import (
    Dispute,
    EarlierResult,
    TaughtRow,
    ToolEdit,
    canonical,
    expected_value,
    reference_to,
)
from selfeng.core.schedule import ANSWERS, Schedule, SchedulePlan, local_zone
from selfeng.core.status import Asked, EngineLoad
from selfeng.core.tool import Tool
from selfeng.core.turn import Asking, HandCall, Refactoring, Request, ToolDescription, Turn
from selfeng.core.verdict import Execution
from selfeng.core.visible import one_line
from selfeng.core.words import shortened
from selfeng.durable.turn_work import TurnRecovery
from selfeng.durable.workflows import Workflows
from selfeng.lessons.learning import Learning
from selfeng.library.composition.reverification import Reverification
from selfeng.library.exchange.tool_export import ToolExport
from selfeng.library.exchange.tool_import import ToolImport
from selfeng.library.library_snapshot import LibraryChange
from selfeng.orchestrator import Orchestrator, RequestTurns
from selfeng.projects.service import ProjectService
from selfeng.provision.configuration import Configuration
from selfeng.provision.setup import Readiness, Setup
from selfeng.sandbox import SecureSandbox
from selfeng.servers.mcp_servers import McpServers
from selfeng.servers.tool_network import GrantedNetwork
from selfeng.servers.vault import Vault
from selfeng.stages.execution.arguments import bind_by_hand
from selfeng.stages.execution.programs import Program, program_of
from selfeng.stages.executor import Call, Executor
from selfeng.stages.library_health import HealthReports
from selfeng.stages.scheduler import Scheduler
from selfeng.stages.tool_review import EarlierAnswers, ToolReview
from selfeng.stages.updates import Updates
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.news import NewsListener
from selfeng.store.processes import Processes
from selfeng.store.recorder import Feed, Recorder
from selfeng.store.retention import PersonalData, Retention
from selfeng.store.shares import Shares
from selfeng.store.spending import Spending
from selfeng.store.turn_queue import TurnQueue
from selfeng.synthesis.probe import shown_call
from selfeng.synthesis_engine import SynthesisEngine
from selfeng.turns.conversations import Conversations, plan_to_tool
from selfeng.turns.turn_registry import TurnRegistry

LONGEST_REQUEST = 20_000
"""Characters."""
AGENTS = ("proxy", "coder")
"""Agents that a request may name."""
_SHOWN = 200
"""Characters of a call, and of its right value, in a request."""
_ENDING, _LOOK = 60.0, 0.1
"""Seconds to wait, and between looks, for the end of turns before data are deleted."""
_WRONG = "That is wrong."
"""The complaint of who says no more."""


@dataclass(frozen=True)
class ModelParts:
    """The parts that work with the model. A change of the settings makes new ones; work that has
    begun keeps those that it began with.
    """

    synthesis: SynthesisEngine
    executor: Executor
    orchestrator: Orchestrator


@dataclass(kw_only=True, eq=False)
class Engine:
    """Takes requests as turns of conversations; runs on the event loop that it was opened on.

    Its parts do everything else: `review` has the changes of tools by a person, `earlier_answers`
    those of ended turns, `health` what may be done for the library, `recovery` runs the turns of
    other processes, `shares` has the links to conversations, `recorder` the records of this
    process, and `feed` also those of others in conversations that were read or continued here.
    `changes` reports those of the library, `called` the events of calls without a turn. `resources`
    are closed at the end.
    """

    conversations: Conversations
    configuration: Configuration
    model_parts: Renewed[ModelParts]
    library: CapabilityRegistry
    changes: Changes[LibraryChange]
    review: ToolReview
    earlier_answers: EarlierAnswers
    health: HealthReports
    tool_export: ToolExport
    tool_import: ToolImport
    updates: Updates
    upkeep: Reverification
    sandbox: SecureSandbox
    learning: Learning
    projects: ProjectService
    servers: McpServers
    network: GrantedNetwork
    vault: Vault
    shares: Shares
    schedules: Scheduler
    setup: Setup
    readiness: Readiness
    recovery: TurnRecovery
    recorder: Recorder
    feed: Feed
    news: NewsListener
    called: Changes[Event]
    file_limits: FileLimits
    requests: RequestTurns
    turns: TurnRegistry
    queue: TurnQueue
    journal: Journal
    spending: Spending
    personal_data: PersonalData
    retention: Retention
    workflows: Workflows | None = None
    files: ConversationFiles
    processes: Processes
    runtime: BackgroundTasks
    background: BackgroundTasks
    resources: AsyncExitStack
    _beginning: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False
    )
    """Held while a turn with an id of its own is begun, by the id."""

    async def ask(
        self,
        owner: str,
        conversation_id: str | None,
        request: str,
        files: Sequence[File] = (),
        *,
        answers: Sequence[Answer] = (),
        agent: str = "",
        again: str = "",
        after: str | None = None,
        model: str = "",
        temporary: bool = False,
        timezone: str = "",
        turn_id: str = "",
    ) -> Asked:
        """Begin a turn, in a new conversation if none is given; its records reach the subscribers.

        `answers` answer the open questions of the conversation. The request may then be blank, or
        the answers in words: it is the request that they complete.
        `agent` gets the request without a search. `again` is the id of an earlier turn, whose
        answers and agent hold for this one, too. `after` is the id of the turn that this one
        follows, "" for none: by default the one that the turn `again` follows, or the newest of the
        conversation; the turn knows only what is on the path to it. `model` is that of the
        conversation from now on; "" leaves it. `temporary`: a new conversation is in no list, and
        nothing is learnt from it. `timezone` is the person's, as IANA names it; "" for that of this
        machine. `turn_id` is given to the turn; if there is one with it, that is
        the turn.

        Raises:
            LimitReached: too many requests wait in the queue.
            RequestError: the request is blank or too long, the files are too many or too large,
                there is no such question, an answer does not fit its question, or the conversation
                belongs to a project.
            ResourceNotFound: `owner` has no such conversation, or no such turn.
        """
        async with (
            self._beginning.setdefault(turn_id, asyncio.Lock()) if turn_id else nullcontext()
        ):
            if turn_id and (
                conversation := await asyncio.to_thread(self.journal.conversation_of, turn_id)
            ):
                return Asked(conversation_id=conversation, turn_id=turn_id)
            files = await self._take_in(files)
            if request.strip() or not answers:
                _check_words(request, "write what you need")
            if agent and agent not in AGENTS:
                raise RequestError(
                    f"unknown agent {agent[:40]!r}", f"name one of {', '.join(AGENTS)}, or none"
                )
            await self.turns.check(owner, conversation_id)
            if again:
                (first, *_) = await self.conversations.records(owner, again)
                assert isinstance(first.event, TurnStarted), first
                answers, agent = first.event.answers, first.event.agent
                if after is None and first.conversation_id == conversation_id:
                    after = await asyncio.to_thread(self.journal.parent, again)
            if conversation_id is None:
                rounds: tuple[QuestionsAsked, ...] = ()
            else:
                await self._check_conversation(owner, conversation_id)
                rounds = await asyncio.to_thread(self.journal.rounds, conversation_id, after)
            if not again:
                answers = completed(rounds[0].questions if rounds else (), answers)
            waiting = specified = None
            if rounds and request.strip() in ("", answers_text(answers)):
                last_request = partial(self.journal.last_request, conversation_id or "", after)
                request = await asyncio.to_thread(last_request)
                if answers:
                    waiting, specified = rounds[0].call, rounds[0].specified
            plan, place = rounds[0].schedule if rounds and answers else None, conversation_id or ""
            kind = plan and await self.schedules.answer(owner, plan, answers[0], (place, after))
            no = bool(waiting or specified) and answers[0].value == NO
            turn_request = Request(
                request,
                files=tuple(files),
                answers=tuple(answers),
                rounds=sum(r.questions[0].options not in (CONSENTS, ANSWERS) for r in rounds),
                kind=kind
                or Asking(
                    agent=agent or (rounds[0].agent if rounds else ""),
                    again=again,
                    waiting=waiting,
                    specified=specified,
                ),
                refused=(
                    *(rounds[0].refused if rounds else ()),
                    *((waiting.name,) if waiting and no else ()),
                    *(
                        specified.specification.needs
                        if no and specified and specified.specification
                        else ()
                    ),
                ),
                consents={**rounds[0].consents, **consents_of(answers)}
                if rounds and answers
                else {},
                conversation_id=conversation_id or "",
                after=after,
                model=model,
                temporary=temporary,
                timezone=timezone or local_zone(),
            )
            return await self.requests.begin(owner, turn_request, turn_id)

    async def turn(
        self, owner: str, pending_turn: Awaitable[Asked]
    ) -> AsyncGenerator[Record, None]:
        """Begin a turn of `owner`, such as by `ask` or `build`, and give its records; leaving
        stops it.

        Raises: as what begins it.
        """
        turn_id, is_last = "", False  # until the turn has begun, any record may be its own
        with self.feed.listening(lambda record: turn_id in ("", record.turn_id)) as news:
            turn_id = (await pending_turn).turn_id
            try:
                while not is_last:
                    for record in await news.get():
                        if record.turn_id == turn_id and not is_last:
                            is_last = isinstance(record.event, FINAL)
                            yield record
            finally:
                if not is_last:
                    await self.stop(owner, turn_id)

    async def call(
        self,
        owner: str,
        called: str | Program,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        watch: Callable[[Event], object] = lambda event: None,
    ) -> Execution:
        """Call a tool by name, or a program, without the model. The call counts for the tool's
        standing within a tenth of a second. `watch` gets its events.

        Raises:
            ToolNotFound, ToolModified, NotConsented, SandboxError
            RequestError: the arguments don't fit its signature, or the files are too many or too
                large.
        """
        own_files = await self._take_in(files)
        tool = await self.library.get_for_call(called) if isinstance(called, str) else called
        call = Call(tool=tool, arguments=bind_by_hand(tool.signature, arguments))
        with owned_by(owner):
            events = Changes[Event]()
            events.subscribe(self.called.tell)
            events.subscribe(watch)
            turn = Turn(Request(str(call), files=own_files), events.tell)
            executor = self.model_parts.current.executor
            with turn.checking():
                if isinstance(called, Program):
                    execution = await executor.run_program(turn, call)
                else:
                    execution = await executor.run(turn, call, self.library.count_use)
                await turn.checked()
            return execution

    async def program(self, code: str) -> Program:
        """Code as a program, pinned to the tools that it imports, with the hosts that they are
        granted.

        Raises: RequestError: it defines no function `program`, imports what is not there, or uses
            the network itself.
        """
        tools = await self.library.tools()
        granted_tools = [
            await self.network.with_granted(tool) if tool.name in code else tool for tool in tools
        ]
        return await asyncio.to_thread(program_of, code, granted_tools)

    async def run(
        self,
        owner: str,
        conversation_id: str | None,
        name: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        after: str | None = None,
        temporary: bool = False,
    ) -> Asked:
        """Begin a turn that calls a tool by name, without the model; in a new conversation if none
        is given. `after` and `temporary`: as for `ask`.

        Raises:
            ToolNotFound, ToolModified
            ResourceNotFound: `owner` has no such conversation.
            LimitReached: too many requests wait in the queue.
            RequestError: as `call`, or the conversation belongs to a project.
        """
        own_files = await self._take_in(files)
        tool = await self.library.get_for_call(name)
        call = Call(tool=tool, arguments=bind_by_hand(tool.signature, arguments))
        await self.turns.check(owner, conversation_id)
        request = f"Run {call}"
        if conversation_id is not None:
            await self._check_conversation(owner, conversation_id)
        by_hand = HandCall(call=FunctionCall(name=name, arguments=call.arguments))
        turn_request = Request(
            request,
            files=own_files,
            conversation_id=conversation_id or "",
            after=after,
            temporary=temporary,
            kind=by_hand,
        )
        return await self.requests.begin(owner, turn_request)

    async def _check_conversation(self, owner: str, conversation_id: str) -> None:
        """Raises: ResourceNotFound, RequestError: it belongs to a project."""
        if (await self.conversations.get(owner, conversation_id)).kind == "project":
            raise RequestError(
                "this conversation belongs to a project",
                "continue there, or start a new conversation",
            )

    async def _take_in(self, files: Sequence[File]) -> tuple[File, ...]:
        """The files, large ones in the folder of those. Raises: RequestError: they are too many or
        too large.
        """
        if problem := self.file_limits.problem(files):
            allowed = f"FILES_MAX_COUNT and FILES_MAX_MB allow {self.file_limits}"
            raise RequestError(problem, allowed, cause="too_large")
        return tuple([await asyncio.to_thread(self.files.take_in, file) for file in files])

    async def keep(self, owner: str, turn_id: str) -> Asked:
        """Begin a turn that makes one tool of an earlier turn's plan, in the same conversation, and
        runs it for the same request.

        Raises:
            ResourceNotFound: `owner` has no such turn.
            LimitReached: too many requests wait in the queue.
            RequestError: its plan can't be saved as a tool.
        """
        records = await self.conversations.records(owner, turn_id)
        plan = plan_to_tool(records)
        conversation_id = records[0].conversation_id
        await self.turns.check(owner, conversation_id)
        turn_request = Request(
            plan.request,
            conversation_id=conversation_id,
            after=await asyncio.to_thread(self.journal.newest_from, turn_id),
            kind=plan,
        )
        return await self.requests.begin(owner, turn_request)

    async def dispute(
        self, owner: str, turn_id: str, complaint: str = "", value: str = ""
    ) -> Asked:
        """Begin a turn about an answer that is wrong, in the same conversation: it makes the next
        version of the tool that gave it, unless the data refute the person. An answer that no tool
        of the library gave is asked for again, with the complaint.

        `turn_id` is "" for the newest turn. `value` is the right value, as JSON or a text: it
        becomes a test of its own. `complaint` says what is wrong; both may be blank.

        Raises:
            ResourceNotFound: `owner` has no such turn.
            LimitReached: too many requests wait in the queue.
            RequestError: they are too long, or the conversation belongs to a project.
        """
        turn_id = turn_id or await asyncio.to_thread(self.journal.newest_turn, owner)
        first, *_ = await self.conversations.records(owner, turn_id)
        conversation_id, complaint, value = (
            first.conversation_id,
            complaint.strip() or _WRONG,
            value.strip(),
        )
        request = f"{complaint.rstrip('.:')}: {value}" if value else complaint
        _check_words(request, "say what is wrong")
        await self.turns.check(owner, conversation_id)
        await self._check_conversation(owner, conversation_id)
        after = await asyncio.to_thread(self.journal.newest_from, turn_id)
        results = await asyncio.to_thread(
            partial(self.files.results, conversation_id, turn_id, after=after)
        )
        turn_request = Request(request, conversation_id=conversation_id, after=after)
        if results and await self._keeps(results[-1].tool):
            right = expected_value(results[-1].reference.kind, value)
            dispute = Dispute(result=results[-1], complaint=one_line(request), expected=right)
            turn_request = replace(turn_request, kind=dispute)
        return await self.requests.begin(owner, turn_request)

    async def _keeps(self, name: str) -> bool:
        """Whether the library has a tool."""
        with suppress(LibraryError):
            return bool(await self.library.get(name))
        return False

    async def refactor(self, owner: str, name: str) -> Asked:
        """Begin a turn that makes a tool faster, in a new conversation.

        Raises: ToolNotFound, ToolModified, LimitReached.
        """
        request = f"Make {(await self.library.get(name)).name} faster"
        await self.turns.check(owner)
        return await self.requests.begin(owner, Request(request, kind=Refactoring(tool=name)))

    async def build(self, owner: str, description: str) -> Asked:
        """Begin a turn that builds the tool that a person describes, without calling it, in a new
        conversation. It ends with the tool of the library that does this, if there is one.

        Raises: LimitReached, RequestError: the description is blank or too long.
        """
        _check_words(description, "describe the tool")
        await self.turns.check(owner)
        return await self.requests.begin(owner, Request(description, kind=ToolDescription()))

    async def stop(self, owner: str, turn_id: str) -> bool:
        """Stop a turn of `owner` that runs or waits in the queue, in whatever process; False if
        there is none with that id.
        """
        return await self.turns.stop(owner, turn_id) or await asyncio.to_thread(
            self.journal.request_stop, owner, turn_id
        )

    async def forward(
        self, owner: str, body: Mapping[str, Any], path: str
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """Pass a program's request to the model; see `LLMClient.forward`. Its cost counts."""
        client = self.configuration.client
        async with (
            self.spending.outside_turns(owner) as budget,
            aclosing(client.forward(body, budget, path=path)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    async def schedule(
        self, owner: str, plan: SchedulePlan, files: Sequence[File] = ()
    ) -> Schedule:
        """Have a tool called at set times, without the model, as long as a server runs.

        Raises:
            ToolNotFound, ToolModified, VersionNotFound
            RequestError: as `call`; the times or the time zone are wrong, or the name is taken.
            LimitReached: there are too many schedules.
        """
        return await self.schedules.add(owner, plan, await self._take_in(files))

    async def delete_data(self, owner: str) -> None:
        """Stop the turns of `owner` and delete what is stored of this person, as `DATA_KINDS` says:
        also the tools that only these turns made and used, and the secrets that the person entered.
        Tools that others use keep code, tests and the exchanges that these replay. Deleted data
        can't be restored. After an error, another call deletes the rest.

        Raises: ResourceBusy: a turn does not end. LibraryError.
        """
        for schedule in await self.schedules.list(owner):  # before it begins another turn
            await self.schedules.remove(owner, schedule.id)
        end = time.monotonic() + _ENDING
        while running := await asyncio.to_thread(self.journal.running_of, owner):
            if time.monotonic() > end:
                raise ResourceBusy("a turn of yours still runs", "try again in a minute")
            for turn_id in running:
                await self.stop(owner, turn_id)
            await asyncio.sleep(_LOOK)
        await self.recorder.flush()
        turn_ids = await asyncio.to_thread(self.personal_data.turns, owner)
        for project in await self.projects.projects(owner):
            await self.projects.delete(owner, project.id)
        requests = await asyncio.to_thread(self.personal_data.requests, owner)
        await self.library.forget_person(owner, requests)
        await asyncio.to_thread(self.vault.remove_of, owner)
        await asyncio.to_thread(self.personal_data.delete, owner)
        if self.workflows:
            await self.workflows.forget(turn_ids)
        await asyncio.to_thread(self.retention.remove_unused)
        await asyncio.to_thread(self.personal_data.erase)
        self.conversations.changed.tell("")
        self.learning.changed.tell()

    async def load(self) -> EngineLoad:
        return EngineLoad(
            running=len(self.turns.running),
            queued=await asyncio.to_thread(self.queue.length),
            containers=self.sandbox.ready,
        )

    async def teach(self, owner: str, name: str, rows: Sequence[TaughtRow]) -> Tool | Asked:
        """Teach a tool what it must return: its next version with these tests, if it passes them,
        or a turn that makes a version which does.

        Raises: as `save`; LimitReached.
        """
        edit = ToolEdit(rows=tuple(rows))
        verdict = await self.review.verdict(owner, name, edit)
        if verdict.passed:
            return await self.review.save(owner, name, edit)
        if verdict.problem:
            raise RequestError(verdict.problem, "correct the tool, then teach it")
        first, *further = rows
        call, right = shown_call(name, first.arguments), canonical(first.value)
        result = EarlierResult(
            id="r1",
            turn_id="",
            request=call,
            tool=name,
            arguments=json.dumps(first.arguments, ensure_ascii=False),
            begins="",
            reference=reference_to(first.value, right),
        )
        complaint = one_line(f"{shortened(call, _SHOWN)} must return {shortened(right, _SHOWN)}")
        await self.turns.check(owner)
        dispute = Dispute(result=result, complaint=complaint, expected=right, rows=tuple(further))
        return await self.requests.begin(owner, Request(complaint, kind=dispute))

    async def settle(self) -> None:
        """Wait until all turns have ended, what follows from them is computed, and their events
        are stored.
        """
        await self.runtime.aflush_tasks()
        await self.recorder.flush()
        await self.earlier_answers.settle()
        await self.recorder.flush()

    async def aclose(self) -> None:
        """Stop all turns, write their last events to the journal, and close every part. Where
        processes share the database, another one resumes the turns that it can.
        """
        hands_over = self.recovery.hands_over
        self.background.cancel()
        self.earlier_answers.cancel()
        self.learning.stop()
        await self.turns.aclose("The server ended.", stays=hands_over)
        if hands_over:
            await asyncio.to_thread(self.queue.fence)
        self.turns.stop_all("The server ended.")
        await self.runtime.aflush_tasks()
        await self.recorder.aclose()
        if hands_over:
            await asyncio.to_thread(self.queue.hand_over)
        await asyncio.to_thread(self.processes.close)
        await self.feed.aclose()
        await self.resources.aclose()


def _check_words(request: str, remedy: str) -> None:
    """Raises: RequestError: it is blank or too long."""
    if not request.strip():
        raise RequestError("the request is blank", remedy)
    if len(request) > LONGEST_REQUEST:
        raise RequestError(
            f"the request has {len(request)} characters",
            f"{LONGEST_REQUEST} are allowed; shorten it",
            cause="too_large",
        )
