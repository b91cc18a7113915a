"""The engine: conversations with their turns, and the library that they use."""

import asyncio
import gc
import json
import logging
import sys
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, nullcontext, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import starmap
from typing import Any, assert_never
from uuid import uuid4
from weakref import WeakValueDictionary

from pydantic import ValidationError

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import (
    AgentError,
    DatabaseUnavailable,
    LibraryError,
    RequestError,
    ResourceNotFound,
)
from selfeng.core.events import (
    FINAL,
    LAST_SEQ,
    AnswerCorrected,
    AnswersRecomputed,
    Event,
    QuestionsAsked,
    Record,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.files import File, FileLimits, FileReference
from selfeng.core.logs import log_event
from selfeng.core.owner import owned_by
from selfeng.core.packages import LOCAL
from selfeng.core.prompt import FunctionCall
from selfeng.core.provenance import Behaviour, Corrected, Proposal, ToolVersion
from selfeng.core.question import Answer, answers_text, completed
from selfeng.core.result import (
    Dispute,
    EarlierCall,
    EarlierResult,
    RecomputedAnswers,
    Result,
    TaughtRow,
    ToolEdit,
    canonical,
    expected_value,
    reference_to,
)
from selfeng.core.server_tool import NO
from selfeng.core.status import Asked, EngineLoad, EngineStatus, LibraryStatus, Part
from selfeng.core.tool import Tool
from selfeng.core.turn import EarlierFiles, EarlierResults, Request, Turn, awaited, texts_in
from selfeng.core.verdict import Execution, Verdict
from selfeng.core.visible import one_line
from selfeng.core.words import count, is_shortened, shortened
from selfeng.durable.turn_work import Run, TurnStarter
from selfeng.durable.workflows import Workflows
from selfeng.lessons.learner import Learner
from selfeng.lessons.learning import Learning
from selfeng.library.change_events import LibraryChange
from selfeng.library.composition.reverification import Reverifier
from selfeng.library.composition.sources import PinnedSources
from selfeng.library.exchange.tool_export import ExportForm, ToolExport
from selfeng.library.exchange.tool_import import ToolImport
from selfeng.library.seeding import Planted, SeedMark, plant
from selfeng.library.tool_editor import Proposals
from selfeng.library.versions import difference
from selfeng.llm_client import LLMClient
from selfeng.mcp_client.mcp_servers import McpServers
from selfeng.orchestrator import Orchestrator, started
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.service import ProjectService
from selfeng.provision.configuration import Configuration
from selfeng.provision.readiness import Readiness, Report
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.stages.execution.arguments import ArgumentsInvalid, bind
from selfeng.stages.execution.outcome import changed
from selfeng.stages.executor import Call, Executor
from selfeng.stages.language import is_english
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange, ConversationSummary
from selfeng.store.habits import Habits
from selfeng.store.journal import Journal, NewConversation
from selfeng.store.news import NewsItem, NewsListener
from selfeng.store.processes import Processes
from selfeng.store.recorder import Feed, Recorder
from selfeng.store.shares import Shares
from selfeng.store.turn_queue import MOST_LEASES, ClaimedTurn, TurnQueue
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis.probe import shown_call
from selfeng.synthesis_engine import SynthesisEngine
from selfeng.turns.event_numbers import NumberedEvent
from selfeng.turns.given import GivenTurn, Past
from selfeng.turns.plan_to_tool import plan_to_tool
from selfeng.turns.running_turn import INTERRUPTED
from selfeng.turns.turn_registry import TurnRegistry

log = logging.getLogger(__name__)

LONGEST_REQUEST = 20_000
"""Characters."""
AGENTS = ("proxy", "coder")
"""Agents that a request may name."""
_SHOWN = 200
"""Characters of a call, and of its right value, in a request."""
_WRONG = "That is wrong."
"""The complaint of who says no more."""
_LOOK = 1.0
"""Seconds between looks at the turns of other processes."""
_LOOK_FOR_LESSONS = 60.0
"""Seconds between looks at what other processes have not learnt from."""
_SEARCH = {
    "ready": "search with Chroma",
    "behind": "exact search (the index is being built)",
    "elsewhere": "exact search (another process holds the index)",
    "away": "exact search (the Chroma server does not answer)",
    "absent": "exact search (Chroma is not installed)",
    "broken": "exact search (the index can't be opened)",
}
_REMEDY = {
    "behind": "run it again",
    "elsewhere": "end the server, or delete the folder CHROMA_PERSIST_DIR, and the server "
    "rebuilds it",
    "away": "start the server that CHROMA_URL names, or correct the address",
    "absent": f"{LOCAL}, run `selfeng setup`, or set CHROMA_URL to a server; exact search finds "
    "the same tools",
    "broken": "see the log, and repair or delete what CHROMA_PERSIST_DIR or CHROMA_URL names",
}


@dataclass(frozen=True)
class ModelParts:
    """What works with the model. A change of the settings makes new ones; what has begun keeps
    those that it began with.
    """

    client: LLMClient
    synthesis: SynthesisEngine
    executor: Executor
    orchestrator: Orchestrator
    learner: Learner
    builder: ProjectBuilder


@dataclass(frozen=True)
class ToolParts:
    """The library, and where its tools run."""

    library: CapabilityRegistry
    sources: PinnedSources
    changes: Changes[LibraryChange]
    seeded: SeedMark
    sandbox: SecureSandbox
    upkeep: Reverifier
    tool_export: ToolExport
    tool_import: ToolImport
    proposals: Proposals


@dataclass(frozen=True)
class TurnParts:
    """What runs turns, and what is stored of them."""

    turns: TurnRegistry
    queue: TurnQueue
    runtime: BackgroundTasks
    journal: Journal
    processes: Processes
    recorder: Recorder
    feed: Feed
    news: NewsListener
    files: ConversationFiles
    file_limits: FileLimits
    shares: Shares


class Engine:
    """Takes requests as turns of conversations; runs on the event loop that it was opened on.

    Its parts are public: `library` has the tools, `tool_import` adds those of bundles, `learning`
    has the lessons, `projects` the projects, `servers` the tools of other MCP servers, `shares` the
    links to conversations, `configuration` the settings, `changes`, `changed_conversations` (by id,
    "" for any) and `readiness` report news, `called` the events of calls without a turn.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        model_parts: Callable[[], ModelParts],
        tool_parts: ToolParts,
        turn_parts: TurnParts,
        servers: McpServers,
        learning: Learning,
        projects: ProjectService,
        readiness: Readiness,
        set_ups: Mapping[Part, Callable[[Callable[[str], None]], None]],
        resources: AsyncExitStack,
        workflows: Workflows | None = None,
    ) -> None:
        """`model_parts` makes them anew for the configuration. `set_ups` set up the part that they
        are named after: blocking functions that report their progress line by line. `workflows`
        keep the steps of turns that go on after the process.
        """
        tools, turns = tool_parts, turn_parts
        self.library, self.changes, self.sandbox = tools.library, tools.changes, tools.sandbox
        self.upkeep, self._seeded = tools.upkeep, tools.seeded
        self._proposals = tools.proposals
        self.tool_import, self._tool_export = tools.tool_import, tools.tool_export
        self._turns, self._queue, self._runtime = turns.turns, turns.queue, turns.runtime
        self._journal, self._recorder = turns.journal, turns.recorder
        self._processes = turns.processes
        self._feed, self._news = turns.feed, turns.news
        self.changed_conversations: Changes[str] = Changes()
        self.called: Changes[Event] = Changes()
        self.called.subscribe(log_event)
        self._files, self.file_limits = turns.files, turns.file_limits
        self.shares = turns.shares
        self.configuration = configuration
        self.learning, self.projects, self.readiness = learning, projects, readiness
        self.servers = servers
        self._workflows = workflows
        self._starter = TurnStarter(self._journal, self._turns, workflows)
        self._set_ups, self._resources, self._background = set_ups, resources, BackgroundTasks()
        self._recalls = BackgroundTasks()
        self._verdicts: dict[tuple[str, str], asyncio.Task[Verdict]] = {}
        """Those on what persons are editing, by owner and tool."""
        self._beginning = WeakValueDictionary[str, asyncio.Lock]()
        """Held while a turn with an id of its own is begun, by the id."""
        self._unbegun: list[ClaimedTurn] = []
        """Those that were taken out of the queue and could not begin here."""
        self._use(model_parts())
        configuration.changed.subscribe(lambda: self._use(model_parts()))
        configuration.changed.subscribe(self._turns.reconsider)
        self._news.start(self._hear, self._hear_all)
        self._recorder.subscribe(self._recall)

    def _use(self, parts: ModelParts) -> None:
        """Begin turns with these parts from now on."""
        self.model, self.orchestrator = parts.client, parts.orchestrator
        self.synthesis, self._executor = parts.synthesis, parts.executor
        self.tool_import.examine = parts.synthesis.examine_imported
        self.learning.learner = parts.learner
        self.projects.use(parts.builder)

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
        turn_id: str = "",
    ) -> Asked:
        """Begin a turn, in a new conversation if none is given; its records reach the subscribers.

        `answers` answer the open questions of the conversation. The request may then be blank, or
        the answers in words: it is the request that they complete.
        `agent` gets the request without a search. `again` is the id of an earlier turn, whose
        answers and agent hold for this one, too. `turn_id` is given to the turn; if there is one
        with it, that is the turn.

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
            existing_turn = await self._existing_turn(turn_id) if turn_id else None
            return existing_turn or await self._ask(
                owner,
                conversation_id,
                request,
                files,
                answers=answers,
                agent=agent,
                again=again,
                turn_id=turn_id,
            )

    async def _existing_turn(self, turn_id: str) -> Asked | None:
        conversation = await asyncio.to_thread(self._journal.conversation_of, turn_id)
        return Asked(conversation_id=conversation, turn_id=turn_id) if conversation else None

    async def _ask(
        self,
        owner: str,
        conversation_id: str | None,
        request: str,
        files: Sequence[File],
        *,
        answers: Sequence[Answer],
        agent: str,
        again: str,
        turn_id: str,
    ) -> Asked:
        self._check(files)
        if request.strip() or not answers:
            _check_words(request, "write what you need")
        if agent and agent not in AGENTS:
            raise RequestError(
                f"unknown agent {agent[:40]!r}", f"name one of {', '.join(AGENTS)}, or none"
            )
        await self._turns.check(owner, conversation_id)
        if conversation_id is None:
            rounds: tuple[QuestionsAsked, ...] = ()
        else:
            await self._check_conversation(owner, conversation_id)
            rounds = await asyncio.to_thread(self._journal.rounds, conversation_id)
        if again:
            (first, *_) = await asyncio.to_thread(self._journal.turn, owner, again)
            assert isinstance(first.event, TurnStarted), first
            answers, agent = first.event.answers, first.event.agent
        else:
            answers = completed(rounds[0].questions if rounds else (), answers)
        waiting = None
        if rounds and request.strip() in ("", answers_text(answers)):
            request = await asyncio.to_thread(self._journal.last_request, conversation_id or "")
            waiting = rounds[0].call if answers else None
        no = waiting is not None and answers[0].value == NO
        turn_request = Request(
            request,
            files=tuple(files),
            answers=tuple(answers),
            rounds=sum(1 for past_round in rounds if past_round.call is None),
            again=again,
            waiting=waiting,
            refused=(
                *(rounds[0].refused if rounds else ()),
                *((waiting.name,) if waiting and no else ()),
            ),
            agent=agent or (rounds[0].agent if rounds else ""),
            conversation_id=conversation_id or "",
        )
        return await self._begin(owner, turn_request, turn_id)

    async def turn(
        self, owner: str, pending_turn: Awaitable[Asked]
    ) -> AsyncGenerator[Record, None]:
        """Begin a turn of `owner`, such as by `ask` or `build`, and give its records; leaving
        stops it.

        Raises: as what begins it.
        """
        records: asyncio.Queue[Record] = asyncio.Queue()
        unsubscribe = self.subscribe(lambda batch: _append(records, batch))
        runs = None
        try:
            runs = started_turn = await pending_turn
            while runs:
                record = await records.get()
                if record.turn_id == started_turn.turn_id:
                    if isinstance(record.event, FINAL):
                        runs = None
                    yield record
        finally:
            unsubscribe()
            if runs:
                await self.stop(owner, runs.turn_id)

    async def records(self, owner: str, turn_id: str) -> tuple[Record, ...]:
        """The records of a turn so far. Raises: ResourceNotFound: `owner` has no such turn."""
        return await asyncio.to_thread(self._journal.turn, owner, turn_id)

    async def follow(
        self, owner: str, turn_id: str, after: int = 0
    ) -> AsyncGenerator[Record, None]:
        """The records of a turn after a number, until it has ended. Leaving does not stop it.

        Raises: ResourceNotFound: `owner` has no such turn.
        """
        news: asyncio.Queue[Record] = asyncio.Queue()
        unsubscribe = self.subscribe(lambda batch: _append(news, batch))
        try:
            stored_records = await self.records(owner, turn_id)
            if not isinstance(stored_records[-1].event, FINAL):
                after = max(after, stored_records[0].seq - 1)
                stored_records = await self.history(owner, stored_records[0].conversation_id, after)
            async for record in _joined(stored_records, news):
                if record.turn_id == turn_id and record.seq > after:
                    yield record
                if record.turn_id == turn_id and isinstance(record.event, FINAL):
                    return
        finally:
            unsubscribe()

    async def conversation_named(self, owner: str, name: str) -> str:
        """The id of a conversation that a program calls by a name of its own, begun if there is
        none; the id of one of `owner`'s conversations names that one.
        """
        return await asyncio.to_thread(self._journal.named_conversation, owner, name)

    async def conversation_with(self, owner: str, requests: Sequence[str]) -> str | None:
        """The id of the newest conversation of `owner` that had these requests, in this order and
        no others; None if there is none.
        """
        return await asyncio.to_thread(self._journal.conversation_with, owner, requests)

    async def call(
        self,
        owner: str,
        name: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        watch: Callable[[Event], object] = lambda event: None,
    ) -> Execution:
        """Call a tool by name, without the model. The call counts for the tool's standing within a
        tenth of a second. `watch` gets its events.

        Raises:
            ToolNotFound, ToolModified, SandboxError
            RequestError: the arguments don't fit its signature, or the files are too many or too
                large.
        """
        call = await self._bound(name, arguments, files)
        with owned_by(owner):
            events = Changes[Event]()
            events.subscribe(self.called.tell)
            events.subscribe(watch)
            turn = Turn(Request(str(call), files=tuple(files)), events.tell)
            return await self._executor.run(turn, call, self.library.count_use)

    async def recompute(self, owner: str, name: str) -> RecomputedAnswers:
        """What the newest version of a tool returns for the calls of `owner`'s earlier answers, the
        newest 200. Nothing is stored.

        Raises: ToolNotFound, ToolModified, SandboxError.
        """
        tool = await self.library.get(name)
        made = (await self.library.version(name, tool.version)).created_at
        calls = await asyncio.to_thread(self._files.calls, owner, name, made)
        changes, unknown = [], 0
        with owned_by(owner):
            for call in calls:
                try:
                    arguments, files = await asyncio.to_thread(self._as_called, call)
                except (ValueError, ResourceNotFound):
                    unknown += 1
                    continue
                now = await self._executor.try_out(tool, tool.code, arguments, files)
                changes.append(changed(call, now))
        return RecomputedAnswers(
            tool=name,
            version=tool.version,
            computed=len(changes),
            unknown=unknown,
            changed=tuple(filter(None, changes)),
        )

    def _recall(self, records: Sequence[Record]) -> None:
        """Compute the earlier answers again that a correction concerns, beside its turn."""
        for record in records:
            if isinstance(record.event, AnswerCorrected):
                Context().run(self._recalls.start, self._recalled(record, record.event.tool))

    async def _recalled(self, record: Record, tool: str) -> None:
        conversation_id, turn_id = record.conversation_id, record.turn_id
        try:
            owner = await asyncio.to_thread(self._journal.owner_of, conversation_id)
            report = await self.recompute(owner, tool)
        except AgentError as error:
            log.warning("earlier answers of %s are not computed again: %s", tool, error)
            return
        event = AnswersRecomputed(
            tool=tool,
            version=report.version,
            computed=report.computed,
            changed=len(report.changed),
        )
        self._recorder.emit(conversation_id, turn_id, event, scope="recall", n=1)

    def _as_called(self, call: EarlierCall) -> tuple[dict[str, Any], list[File]]:
        """The arguments and the files of an earlier call. Blocking.

        Raises: ValueError: the arguments are not kept whole; ResourceNotFound: a file is gone.
        """
        arguments: dict[str, Any] = json.loads(call.arguments)
        names = set(texts_in(arguments))
        if any(map(is_shortened, names)):
            raise ValueError(call.arguments)
        references = self._files.newest(call.conversation_id, call.seq)
        return arguments, [
            self._files.read(call.conversation_id, reference.sha256, reference.name)
            for reference in references
            if reference.name in names
        ]

    async def run(
        self,
        owner: str,
        conversation_id: str | None,
        name: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
    ) -> Asked:
        """Begin a turn that calls a tool by name, without the model; in a new conversation if none
        is given.

        Raises:
            ToolNotFound, ToolModified
            ResourceNotFound: `owner` has no such conversation.
            LimitReached: too many requests wait in the queue.
            RequestError: as `call`, or the conversation belongs to a project.
        """
        call = await self._bound(name, arguments, files)
        await self._turns.check(owner, conversation_id)
        request = f"Run {call}"
        if conversation_id is not None:
            await self._check_conversation(owner, conversation_id)
        by_hand = FunctionCall(name=name, arguments=call.arguments)
        turn_request = Request(
            request, files=tuple(files), conversation_id=conversation_id or "", by_hand=by_hand
        )
        return await self._begin(owner, turn_request)

    async def _bound(self, name: str, arguments: Mapping[str, Any], files: Sequence[File]) -> Call:
        """The call of a tool by name. Raises: as `call`."""
        self._check(files)
        tool = await self.library.get_for_call(name)
        try:
            return Call(tool=tool, arguments=bind(tool.signature, arguments))
        except ArgumentsInvalid as error:
            raise RequestError(error.problem, f"its signature is {tool.signature}") from error

    async def _check_conversation(self, owner: str, conversation_id: str) -> None:
        """Raises: ResourceNotFound, RequestError: it belongs to a project."""
        conversation = await asyncio.to_thread(self._journal.conversation, owner, conversation_id)
        if conversation.kind == "project":
            raise RequestError(
                "this conversation belongs to a project",
                "continue there, or start a new conversation",
            )

    def _check(self, files: Sequence[File]) -> None:
        if problem := self.file_limits.problem(files):
            raise RequestError(
                problem, f"FILES_MAX_COUNT and FILES_MAX_MB allow {self.file_limits}"
            )

    async def keep(self, owner: str, turn_id: str) -> Asked:
        """Begin a turn that makes one tool of an earlier turn's plan, in the same conversation, and
        runs it for the same request.

        Raises:
            ResourceNotFound: `owner` has no such turn.
            LimitReached: too many requests wait in the queue.
            RequestError: its plan can't be saved as a tool.
        """
        records = await asyncio.to_thread(self._journal.turn, owner, turn_id)
        plan = plan_to_tool(records)
        conversation_id = records[0].conversation_id
        await self._turns.check(owner, conversation_id)
        turn_request = Request(
            plan.request,
            conversation_id=conversation_id,
            saved_plan=plan.steps,
            keeps=plan.turn_id,
        )
        return await self._begin(owner, turn_request)

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
        turn_id = turn_id or await asyncio.to_thread(self._journal.newest_turn, owner)
        first, *_ = await asyncio.to_thread(self._journal.turn, owner, turn_id)
        conversation_id, complaint, value = (
            first.conversation_id,
            complaint.strip() or _WRONG,
            value.strip(),
        )
        request = f"{complaint.rstrip('.:')}: {value}" if value else complaint
        _check_words(request, "say what is wrong")
        await self._turns.check(owner, conversation_id)
        await self._check_conversation(owner, conversation_id)
        results = await asyncio.to_thread(self._files.results, conversation_id, turn_id)
        turn_request = Request(request, conversation_id=conversation_id)
        if results and await self._keeps(results[-1].tool):
            right = expected_value(results[-1].reference.kind, value)
            dispute = Dispute(result=results[-1], complaint=one_line(request), expected=right)
            turn_request = replace(turn_request, disputes=dispute)
        return await self._begin(owner, turn_request)

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
        await self._turns.check(owner)
        return await self._begin(owner, Request(request, refactors=name))

    async def build(self, owner: str, description: str) -> Asked:
        """Begin a turn that builds the tool that a person describes, without calling it, in a new
        conversation. It ends with the tool of the library that does this, if there is one.

        Raises: LimitReached, RequestError: the description is blank or too long.
        """
        _check_words(description, "describe the tool")
        await self._turns.check(owner)
        return await self._begin(owner, Request(description, builds=True))

    async def _begin(self, owner: str, turn_request: Request, turn_id: str = "") -> Asked:
        """Begin a turn, with the past of its conversation, which is a new one if none is named."""
        new, conversation_id = None, turn_request.conversation_id
        if conversation_id:
            await self._feed.watch(conversation_id)
            turn_request = await asyncio.to_thread(self._with_past, turn_request)
        else:
            new = NewConversation(owner, turn_request.text.strip().splitlines()[0][:80])
            conversation_id = uuid4().hex
            await self._feed.watch(conversation_id, new=True)
            turn_request = replace(turn_request, conversation_id=conversation_id)
        return await self._starter.begin(
            owner,
            conversation_id,
            started(turn_request),
            self._run(turn_request),
            turn_id=turn_id,
            new=new,
            given_turn=GivenTurn.of(turn_request),
        )

    def _run(self, turn_request: Request) -> Run:
        return lambda resumed, watch: self.orchestrator.begin(
            turn_request, resumed=resumed, watch=watch
        )

    async def resume_turns(self, *, once_ready: bool = False) -> None:
        """From now on run the turns that wait in the queue, as far as there is room, and those that
        killed servers left running; such as can't go on end with an event that says so. Call it
        before the first request. `once_ready`: not before what a turn needs is set up, which other
        processes see.
        """
        if self._workflows:
            lost = partial(asyncio.get_running_loop().call_soon_threadsafe, self._give_up)
            self._processes.room = self.configuration.settings.turns_per_process
            if once_ready:
                self._processes.unready = self.readiness.reason
            await asyncio.to_thread(self._processes.begin, lost)
            if once_ready:
                await self._until_ready()
            self._turns.take = self._take
            await asyncio.to_thread(self._journal.release_lost)
            self._turns.reconsider()
            self._background.start(self._watch_processes())
        await self.stop_abandoned_turns()

    async def _until_ready(self) -> None:
        changed = asyncio.Event()
        self.readiness.changed.subscribe(changed.set)
        while self.readiness.reason:
            self._processes.unready = self.readiness.reason
            changed.clear()
            await changed.wait()
        self._processes.unready = ""
        await asyncio.to_thread(self._processes.beat)  # the others know it at once

    async def _watch_processes(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            try:
                while self._unbegun:
                    await asyncio.to_thread(self._queue.give_back, self._unbegun[-1])
                    self._unbegun.pop()
                if await asyncio.to_thread(self._journal.any_lost):
                    await asyncio.to_thread(self._journal.release_lost)
                    await self.stop_abandoned_turns()
                self._turns.reconsider(changed=False)
            except Exception as error:  # noqa: BLE001 - the database is away
                log.warning("the turns of other processes could not be looked after: %s", error)

    def _give_up(self) -> None:
        """Other processes took this one for gone, as it was frozen, and go on with its turns."""
        self._background.start(self._let_go())

    async def _let_go(self) -> None:
        here = set(self._turns.running)  # before the look: a turn may begin meanwhile
        for turn_id in here - await asyncio.to_thread(self._journal.held):
            self._turns.stop_here(turn_id)

    async def _take(self, claimed: ClaimedTurn) -> None:
        """Run a turn that another process took into the queue, or left running."""
        try:
            await self._begin_claimed(claimed)
        except Exception:  # the database of the steps is away, or broken
            log.exception("turn %s could not begin", claimed.turn_id)
            if claimed.lease < MOST_LEASES:
                self._unbegun.append(claimed)
            else:
                self._interrupted(claimed)

    def _interrupted(self, claimed: ClaimedTurn) -> None:
        last = TurnStopped(reason=INTERRUPTED)
        self._recorder.emit(claimed.conversation_id, claimed.turn_id, last, lease=claimed.lease)

    async def _begin_claimed(self, claimed: ClaimedTurn) -> None:
        numbered = await asyncio.to_thread(self._journal.numbered, claimed.turn_id)
        earlier_events = tuple(starmap(NumberedEvent, numbered))
        try:
            given_turn = GivenTurn.model_validate_json(claimed.given or "")
            if given_turn.build is not None:
                await self.projects.resume(claimed, given_turn.build, earlier_events)
                return
            request = await given_turn.request(self._past(claimed.conversation_id))
        except DatabaseUnavailable:
            raise
        except (AgentError, ValidationError):  # another version wrote it, or a file of it is gone
            log.exception("turn %s can't go on", claimed.turn_id)
            self._interrupted(claimed)
            return
        await self._starter.go_on(claimed, earlier_events, self._run(request), again=request.again)

    def _past(self, conversation_id: str) -> Past:
        async def file(reference: FileReference) -> File:
            return await asyncio.to_thread(
                self._files.read, conversation_id, reference.sha256, reference.name
            )

        async def result(earlier: EarlierResult) -> Result:
            return await asyncio.to_thread(
                self._files.result, conversation_id, earlier.reference.sha256
            )

        return Past(file, result)

    def _with_past(self, turn_request: Request) -> Request:
        """A request with the history of its conversation, the values, and the files except those
        that it replaces by name. Blocking.
        """
        conversation_id, past = (
            turn_request.conversation_id,
            self._past(turn_request.conversation_id),
        )
        replaced = {file.name for file in turn_request.files}
        other_files = [r for r in self._files.newest(conversation_id) if r.name not in replaced]
        return replace(
            turn_request,
            history=self._journal.messages(conversation_id),
            earlier=EarlierFiles(tuple(other_files[: self.file_limits.count]), past.file),
            earlier_results=EarlierResults(self._files.results(conversation_id), past.result),
        )

    async def stop(self, owner: str, turn_id: str) -> bool:
        """Stop a turn of `owner` that runs or waits in the queue, in whatever process; False if
        there is none with that id.
        """
        return await self._turns.stop(owner, turn_id) or await asyncio.to_thread(
            self._journal.request_stop, owner, turn_id
        )

    async def conversations(self, owner: str, text: str = "") -> tuple[ConversationSummary, ...]:
        """An owner's conversations, that with the newest turn first, without those of projects;
        with a text those that have its words in their title, requests or answers, at most 50.
        """
        return await asyncio.to_thread(self._journal.conversations, owner, text=text)

    async def change_conversation(
        self, owner: str, conversation_id: str, change: ConversationChange
    ) -> None:
        """Rename, pin, delete or restore a conversation, or have it seen. Deletion stops its turns;
        it is removed for good after a day.

        Raises: ResourceNotFound: `owner` has no such conversation, or deleted it.
        """
        await asyncio.to_thread(self._journal.change_conversation, owner, conversation_id, change)
        if change.deleted:
            for turn_id in await asyncio.to_thread(self._journal.running, conversation_id):
                if not await self._turns.stop(owner, turn_id, "The conversation was deleted."):
                    await asyncio.to_thread(self._journal.request_stop, owner, turn_id)
            await asyncio.to_thread(self._journal.remove_deleted)
        self.changed_conversations.tell(conversation_id)

    async def exported(
        self, owner: str, conversation_id: str
    ) -> tuple[ConversationSummary, tuple[Record, ...]]:
        """A conversation with all its records. Raises: ResourceNotFound: `owner` has no such
        conversation.
        """
        conversation = await asyncio.to_thread(self._journal.conversation, owner, conversation_id)
        return conversation, await asyncio.to_thread(self._journal.history, conversation_id)

    async def history(
        self,
        owner: str,
        conversation_id: str,
        after: int = 0,
        *,
        before: int = LAST_SEQ,
        turns: int = 0,
    ) -> tuple[Record, ...]:
        """See `Journal.history`. Raises: ResourceNotFound: `owner` has no such conversation."""
        await asyncio.to_thread(self._journal.conversation, owner, conversation_id)
        await self._feed.watch(conversation_id)
        read = partial(self._journal.history, before=before, turns=turns)
        return await asyncio.to_thread(read, conversation_id, after)

    async def file(self, owner: str, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation. Raises: ResourceNotFound: there is none, or `owner` has no such
        conversation.
        """
        await asyncio.to_thread(self._journal.conversation, owner, conversation_id)
        return await asyncio.to_thread(self._files.read, conversation_id, sha256, name)

    async def result(self, owner: str, conversation_id: str, sha256: str) -> Result:
        """A value of a conversation, whole. Raises: ResourceNotFound: there is none, or `owner` has
        no such conversation.
        """
        await asyncio.to_thread(self._journal.conversation, owner, conversation_id)
        return await asyncio.to_thread(self._files.result, conversation_id, sha256)

    async def result_of_turn(self, owner: str, turn_id: str = "") -> Result:
        """The last value of a turn, or of the newest turn that has one. Raises: ResourceNotFound:
        `owner` has none.
        """
        return await asyncio.to_thread(self._files.result_of_turn, owner, turn_id)

    def subscribe(
        self, on_records: Callable[[Sequence[Record]], None], *, own_only: bool = False
    ) -> Callable[[], None]:
        """From now on, call `on_records` with all records of this process, and unless `own_only`,
        with those of other processes in conversations that were read or continued here; returns a
        function that ends this.
        """
        return (self._recorder if own_only else self._feed).subscribe(on_records)

    async def load(self) -> EngineLoad:
        return EngineLoad(
            running=len(self._turns.running),
            queued=await asyncio.to_thread(self._queue.length),
            containers=self.sandbox.ready,
        )

    async def listening(self) -> None:
        """Wait until what other processes do is heard."""
        await self._news.started()

    def _hear(self, item: NewsItem) -> None:
        """Another process announced something."""
        match item.topic:
            case "journal":
                self._feed.news(item.about)
            case "conversations":
                self.changed_conversations.tell("")
            case "library":
                self._background.start(self.library.count())
            case "lessons":
                self.learning.changed.tell()
            case "queue":
                self._turns.reconsider(changed=False)
            case "stop":
                self._turns.stop_here(item.about)
            case _:
                assert_never(item.topic)

    async def _hear_all(self) -> None:
        """Announcements may have been missed."""
        self._feed.lost()
        self._turns.reconsider(changed=False)
        self.changed_conversations.tell("")
        self.learning.changed.tell()
        await self.library.count()

    async def examples(self, owner: str, tool: Tool | ToolVersion) -> tuple[str, ...]:
        """The example requests of a tool, without those that another owner asked before the tool
        existed.
        """
        foreign_requests = await asyncio.to_thread(
            self._journal.said_by_others, owner, tool.example_requests, tool.created_at
        )
        return tuple(
            request for request in tool.example_requests if request not in foreign_requests
        )

    async def habits(self, owner: str, name: str) -> Habits:
        """What `owner` often asks after a tool, and uses together with it."""
        return await asyncio.to_thread(self._journal.habits, owner, name)

    async def last_uses(self, owner: str) -> dict[str, datetime]:
        """When `owner` last used each tool, as far as their newest calls tell."""
        return await asyncio.to_thread(self._journal.last_uses, owner)

    async def used_requests(self, owner: str, name: str) -> tuple[str, ...]:
        """The requests that a tool served and is found by, only those of `owner`, newest first."""
        used = await self.library.used_requests(name)
        own_requests = await asyncio.to_thread(self._journal.said, owner, used)
        return tuple(request for request in used if request in own_requests)

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        """Remove a learned request from a tool; returns the remaining ones.

        Raises:
            ResourceNotFound: the tool has learned no such request of `owner`.
        """
        if request not in await self.used_requests(
            owner, name
        ) or not await self.library.forget_request(name, request):
            raise ResourceNotFound(
                f"{name} has learned no request {request[:80]!r} of yours",
                f"`selfeng tools {name}` lists those asked at the terminal",
            )
        return await self.used_requests(owner, name)

    async def difference(self, name: str, before: int, after: int) -> str:
        """A unified diff of code and tests of two versions. Raises: VersionNotFound."""
        return difference(
            await self.library.version(name, before), await self.library.version(name, after)
        )

    async def verdict(
        self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False
    ) -> Verdict:
        """The verdict of its own tests on a tool, or a proposal, as a person edits it; a newer one
        of the same person takes the place of one that runs.

        Raises: ToolNotFound, ToolModified, ResourceNotFound, RequestError, SandboxError.
        """
        if (older := self._verdicts.pop((owner, name), None)) is not None:
            older.cancel()
        draft = await self.synthesis.drafted(await self._base(owner, name, proposed), edit)
        with owned_by(owner):
            task = asyncio.create_task(self.synthesis.quick_verdict(draft))
        self._verdicts[owner, name] = task
        await asyncio.wait([task])
        if self._verdicts.get((owner, name)) is task:
            del self._verdicts[owner, name]
        if task.cancelled():
            raise RequestError("a newer edit took the place of this one", "wait for its verdict")
        return task.result()

    async def save(self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False) -> Tool:
        """Put what a person edited, or taught, through the gate: the tool's next version, or a
        proposal.

        Raises: as `verdict`; SynthesisFailed: the gate refuses it; VersionConflict, LibraryError.
        """
        with owned_by(owner):
            tool = await self.synthesis.save(await self._base(owner, name, proposed), edit)
        if proposed and not isinstance(tool, Proposal):
            await asyncio.to_thread(self._proposals.remove, owner, name)
        return tool

    async def _base(self, owner: str, name: str, proposed: bool) -> Tool:
        return await (self.proposal(owner, name) if proposed else self.library.get(name))

    async def teach(self, owner: str, name: str, rows: Sequence[TaughtRow]) -> Tool | Asked:
        """Teach a tool what it must return: its next version with these tests, if it passes them,
        or a turn that makes a version which does.

        Raises: as `save`; LimitReached.
        """
        edit = ToolEdit(rows=tuple(rows))
        verdict = await self.verdict(owner, name, edit)
        if verdict.passed:
            return await self.save(owner, name, edit)
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
        await self._turns.check(owner)
        dispute = Dispute(result=result, complaint=complaint, expected=right, rows=tuple(further))
        return await self._begin(owner, Request(complaint, disputes=dispute))

    async def proposals(self, owner: str) -> tuple[Proposal, ...]:
        """The tools and versions that wait for a person to accept them, by name."""
        return await asyncio.to_thread(self._proposals.of, owner)

    async def proposal(self, owner: str, name: str) -> Proposal:
        """Waiting or refused. Raises: ResourceNotFound."""
        return await asyncio.to_thread(self._proposals.get, owner, name)

    async def behaviour(self, owner: str, name: str) -> Behaviour:
        """How a proposal differs from the version that it follows, also on the person's own earlier
        calls. Raises: ResourceNotFound, SandboxError.
        """
        proposal = await self.proposal(owner, name)
        recorded, tool = list[KnownCall](), None
        if proposal.based_on:
            tool = await self.library.get(name)
            now = datetime.now(UTC)
            for call in await asyncio.to_thread(self._files.calls, owner, name, now):
                with suppress(ValueError, ResourceNotFound):
                    arguments, files = await asyncio.to_thread(self._as_called, call)
                    recorded.append(KnownCall(arguments=arguments, files=tuple(files)))
        with owned_by(owner):
            return await self.synthesis.behaviour(tool, proposal, recorded)

    async def accept(self, owner: str, name: str) -> Tool:
        """Put a proposal, waiting or refused, into the library.

        Raises: ResourceNotFound; VersionConflict: the tool has changed meanwhile; ToolExists,
        LibraryError.
        """
        proposal = await self.proposal(owner, name)
        if proposal.based_on:
            tool = await self.library.revise(
                proposal.draft(), proposal.based_on, proposal.provenance
            )
        else:
            tool = await self.library.add(proposal.draft(), proposal.provenance)
        await asyncio.to_thread(self._proposals.remove, owner, name)
        origin = proposal.provenance.origin
        turn_id = origin.turn_id if isinstance(origin, Corrected) else ""
        conversation_id = await asyncio.to_thread(self._journal.conversation_of, turn_id)
        if conversation_id:
            event = AnswerCorrected(tool=name, version=tool.version, turn_id=turn_id)
            self._recorder.emit(conversation_id, turn_id, event, scope="accepted", n=1)
        return tool

    async def refuse(self, owner: str, name: str, refused: bool = True) -> Proposal:
        """Let a proposal wait no longer; or again, which takes that back. Raises:
        ResourceNotFound.
        """
        proposal = await self.proposal(owner, name)
        proposal = proposal.model_copy(update={"refused": refused})
        await asyncio.to_thread(self._proposals.put, owner, proposal)
        return proposal

    async def status(self) -> EngineStatus:
        sandbox, tools, index = await asyncio.gather(
            self.sandbox.status(), self.library.count(), self.library.settle(0)
        )
        words = [
            f"{count(tools, 'tool')}, {_SEARCH[index]}{self._progress()}",
            *map(str, filter(None, [self.library.embedded, self.library.offer])),
        ]
        library = LibraryStatus(tools=tools, detail="; ".join(words))
        unready = self.readiness.unready
        return EngineStatus(
            model=self.configuration.status,
            sandbox=sandbox,
            library=library,
            files=self.file_limits,
            unready=unready,
            workers=self._processes.workers,
        )

    def _progress(self) -> str:
        progress = self.library.indexing
        return f" ({progress.done:,} of {progress.total:,})" if progress else ""

    async def reindex(self, report: Callable[[int, int], None]) -> str:
        """Rebuild the search index; `report` gets the number of tools in it and the total. Returns
        how the library is searched then.

        Raises: LibraryError: this process can't build the index.
        """
        if (state := await self.library.reindex(report)) != "ready":
            raise LibraryError(f"the library has {_SEARCH[state]}", _REMEDY[state])
        return _SEARCH[state]

    async def seed(
        self,
        report: Callable[[str], None],
        progress: Callable[[int, int], None] = lambda current, total: None,
    ) -> Planted:
        """Add the seed tools that are missing. Raises: SandboxError."""
        planted = await plant(load_seeds(), self.library, self.synthesis.examine, report, progress)
        await asyncio.to_thread(self._seeded.put)
        return planted

    async def export_tools(self, owner: str, names: Sequence[str], form: ExportForm) -> File:
        """A file with these tools, by default all, and with those that they import; of their
        example requests those that `owner` may see.

        Raises: RequestError: the form can't hold these tools; ToolNotFound, ToolModified.
        """
        return await self._tool_export.file(names, form, partial(self.examples, owner))

    async def seed_once(
        self, progress: Callable[[int, int], None] = lambda current, total: None
    ) -> None:
        """Add the seed tools to a library that never had them; deleted seed tools stay deleted.
        Raises: SandboxError.
        """
        if not await asyncio.to_thread(self._seeded.present):
            await self.seed(log.info, progress)

    def set_up(self) -> None:
        """Start to set up what this machine lacks, in the background. Requests wait for what they
        need; `status` shows the progress.
        """
        sys.setswitchinterval(0.0005)  # the threads of page and journal wait for the engine's
        self.readiness.expect("search", "sandbox", "tools")
        self._background.start(self._set_up())

    async def _set_up(self) -> None:
        await asyncio.gather(
            self._set_up_search(),
            self._set_up_sandbox(),
            asyncio.to_thread(self.model.warm_up),
            asyncio.to_thread(is_english, "Is this English?"),
        )
        # A collection stops all threads: none looks through what is loaded by now, which stays. The
        # first ones take ten milliseconds, the second ones twenty, and full ones are rare.
        gc.freeze()
        gc.set_threshold(10_000, 5, 40)

    async def _set_up_search(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._set_ups["search"], lambda line: report(line, 0, 0))
            await self.library.embed()

        await awaited(
            self.readiness.news, "sandbox", lambda event: None
        )  # both need the processor, and requests wait for the first
        await self.readiness.prepare("search", work)

    async def _set_up_sandbox(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._set_ups["sandbox"], lambda line: report(line, 0, 0))
            await self.get_ready()

        async def plant_seeds(report: Report) -> None:
            await self.seed_once(
                lambda current, total: report(
                    f"{current} of {total} tools verified", current, total
                )
            )

        await self.readiness.prepare("sandbox", work, then=("tools",))
        await self.readiness.prepare("tools", plant_seeds)

    async def get_ready(self, to_build: bool = True) -> None:
        """Start containers before the first request; `to_build`: also those that verify new and
        changed tools.
        """
        await self.sandbox.reap()
        self.sandbox.start(verifiers=to_build)
        if to_build:
            self.upkeep.begin()

    async def learn_from_turns(self) -> None:
        """From now on, learn in the background from each turn that ends, unless the settings say
        otherwise, and from those that killed servers left unexamined.
        """

        def learns() -> bool:
            return self.configuration.settings.lessons_learn

        def learn(turn_id: str) -> None:
            if learns():
                self.learning.begin(turn_id)

        self._turns.learn, self._journal.teaches = learn, learns
        await self._learn_from_left_turns()
        self._background.start(self._watch_unexamined())

    async def _learn_from_left_turns(self) -> None:
        if self.configuration.settings.lessons_learn:
            for turn_id in await asyncio.to_thread(self._journal.take_over_unexamined):
                self.learning.begin(turn_id)

    async def _watch_unexamined(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_FOR_LESSONS)
            try:
                await self._learn_from_left_turns()
            except Exception as error:  # noqa: BLE001 - the database is away
                log.warning("the turns that are to be examined could not be found: %s", error)

    async def stop_abandoned_turns(self) -> None:
        """Mark turns that killed servers left running as stopped, and remove the conversations
        that were deleted long ago.
        """
        await asyncio.to_thread(self._journal.stop_abandoned_turns)
        await asyncio.to_thread(self._journal.remove_deleted)

    async def settle(self) -> None:
        """Wait until all turns have ended, what follows from them is computed, and their events
        are stored.
        """
        await self._runtime.aflush_tasks()
        await self._recorder.flush()
        await self._recalls.aflush_tasks()
        await self._recorder.flush()

    async def aclose(self) -> None:
        """Stop all turns, write their last events to the journal, and close every part. Where
        processes share the database, another one goes on with the turns that it can.
        """
        hands_over = bool(self._workflows) and self._queue.shared
        self._background.cancel()
        self._recalls.cancel()
        self._turns.learn = None
        await self._turns.aclose("The server ended.", stays=hands_over)
        if hands_over:
            await asyncio.to_thread(self._queue.fence)
        self._turns.stop_all("The server ended.")
        await self._runtime.aflush_tasks()
        await self._recorder.aclose()
        if hands_over:
            await asyncio.to_thread(self._queue.hand_over)
        await asyncio.to_thread(self._processes.close)
        await self._news.aclose()
        await self._feed.aclose()
        await self._resources.aclose()


def _check_words(request: str, remedy: str) -> None:
    """Raises: RequestError: it is blank or too long."""
    if not request.strip():
        raise RequestError("the request is blank", remedy)
    if len(request) > LONGEST_REQUEST:
        raise RequestError(
            f"the request has {len(request)} characters",
            f"{LONGEST_REQUEST} are allowed; shorten it",
        )


def _append(records: asyncio.Queue[Record], batch: Sequence[Record]) -> None:
    for record in batch:
        records.put_nowait(record)


async def _joined(
    stored_records: Sequence[Record], news: asyncio.Queue[Record]
) -> AsyncGenerator[Record, None]:
    """The records that are known, then the stored ones of the news that follow on them."""
    for record in stored_records:
        yield record
    last = stored_records[-1].seq if stored_records else 0
    while True:
        if (record := await news.get()).seq > last:
            yield record
