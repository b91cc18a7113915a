"""The engine: conversations whose requests become turns, with the library they draw on."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack

from selfeng.capability_registry import CapabilityRegistry
from selfeng.composition.upkeep import Upkeep
from selfeng.core.errors import LibraryError, RequestError
from selfeng.core.events import QuestionsAsked, Record
from selfeng.core.files import File, FileLimits, FileReference
from selfeng.core.lesson import Lesson
from selfeng.core.owner import owned_by
from selfeng.core.plan import SavedPlan
from selfeng.core.provenance import ToolVersion
from selfeng.core.question import Answer, completed, said
from selfeng.core.status import Asked, EngineStatus, LibraryStatus, ModelStatus, Part
from selfeng.core.tool import Tool
from selfeng.core.turn import EarlierFiles, awaited
from selfeng.core.words import count
from selfeng.lessons.learning import Learning
from selfeng.llm_client import LLMClient
from selfeng.orchestrator import Orchestrator
from selfeng.projects.desk import ProjectDesk
from selfeng.provision.readiness import Readiness, Report
from selfeng.registry.change import LibraryChange
from selfeng.registry.difference import difference
from selfeng.registry.seeding import Planted, SeedMark, plant
from selfeng.runtime import MiniAgents, PromisingContext
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.store.conversation import ConversationSummary
from selfeng.store.files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder
from selfeng.synthesis_engine import SynthesisEngine
from selfeng.turns.plan_to_tool import plan_to_tool
from selfeng.turns.turn_registry import TurnRegistry

_log = logging.getLogger(__name__)

LONGEST_REQUEST = 20_000
"""Characters."""
AGENTS = ("proxy", "coder")
"""Whom a person may ask at once."""
_SEARCH = {
    "ready": "searched with Chroma",
    "behind": "searched exactly while the index is being built",
    "elsewhere": "searched exactly, as another process has the index",
    "broken": "searched exactly, as the index can't be opened",
}
_REMEDY = {
    "behind": "run it again",
    "elsewhere": "end the server, or delete the folder CHROMA_PERSIST_DIR, and the server makes it anew",
    "broken": "the log says why; see to the folder CHROMA_PERSIST_DIR",
}


class Changes:
    """Changes of the library on their way to whoever listens."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[LibraryChange], None]] = []

    def subscribe(self, listener: Callable[[LibraryChange], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, change: LibraryChange) -> None:
        for listener in tuple(self._listeners):
            listener(change)


class Engine:
    """Conversations whose requests become turns; lives on the event loop that it was opened on."""

    def __init__(
        self,
        *,
        model: LLMClient,
        model_status: ModelStatus,
        sandbox: SecureSandbox,
        library: CapabilityRegistry,
        changes: Changes,
        seeded: SeedMark,
        orchestrator: Orchestrator,
        synthesis: SynthesisEngine,
        learning: Learning,
        upkeep: Upkeep,
        journal: Journal,
        recorder: Recorder,
        files: ConversationFiles,
        file_limits: FileLimits,
        turns: TurnRegistry,
        projects: ProjectDesk,
        runtime: MiniAgents,
        readiness: Readiness,
        parts: Mapping[Part, Callable[[Callable[[str], None]], None]],
        resources: AsyncExitStack,
    ) -> None:
        """`parts` set up what they are named after; blocking, with a function that takes what they do, line by line."""
        self.model, self.library, self.sandbox = model, library, sandbox
        self.synthesis, self.orchestrator, self.learning, self.upkeep = synthesis, orchestrator, learning, upkeep
        self._model_status, self._journal, self._recorder = model_status, journal, recorder
        self._files, self.file_limits = files, file_limits
        self._changes, self._seeded, self._resources = changes, seeded, resources
        self._runtime, self._turns, self.projects = runtime, turns, projects
        self.readiness, self._parts, self._background = readiness, parts, PromisingContext()

    async def ask(
        self,
        owner: str,
        conversation_id: str | None,
        request: str,
        files: Sequence[File] = (),
        *,
        answers: Sequence[Answer] = (),
        agent: str = "",
    ) -> Asked:
        """Begin a turn, in a new conversation if none is named; its records reach the subscribers.

        `answers` are what the request says to the questions that the conversation waits for; with some it may be blank, and stands for
        them. `agent` gets the request at once.

        Raises:
            RequestError: the request is blank or too long, the files are too many or too large, `owner` has no such conversation, there
                is no such question, or the answer does not fit it; or the conversation is that of a project.
        """
        if problem := self.file_limits.problem(files):
            raise RequestError(problem, f"FILES_MAX_COUNT and FILES_MAX_MB allow {self.file_limits}")
        if not request.strip() and not answers:
            raise RequestError("the request is blank", "write what you want to know or have done")
        if len(request) > LONGEST_REQUEST:
            raise RequestError(f"the request has {len(request)} characters", f"{LONGEST_REQUEST} are allowed; shorten it")
        if agent and agent not in AGENTS:
            raise RequestError(f"there is no agent {agent[:40]!r} to ask", f"name one of {', '.join(AGENTS)}, or none")
        if conversation_id is None:
            rounds: tuple[QuestionsAsked, ...] = ()
        else:
            await asyncio.to_thread(self._journal.check_owner, owner, conversation_id)
            if self.projects.has(conversation_id):
                raise RequestError("the conversation is that of a project", "build on there, or begin a new conversation")
            rounds = await asyncio.to_thread(self._journal.rounds, conversation_id)
        answers = completed(rounds[0].questions if rounds else (), answers)
        request = request if request.strip() else said(answers)
        if conversation_id is None:
            title = request.strip().splitlines()[0][:80]
            conversation_id = await asyncio.to_thread(self._journal.create_conversation, owner, title)
        agent = agent or (rounds[0].agent if rounds else "")
        return await self._begin(owner, conversation_id, request, files, answers=answers, rounds=len(rounds), agent=agent)

    async def keep(self, owner: str, turn_id: str) -> Asked:
        """Begin a turn that makes one tool of the plan of a turn, in the same conversation, and runs it for the same request.

        Raises:
            RequestError: `owner` has no such turn, or its plan can't be kept.
        """
        records = await asyncio.to_thread(self._journal.turn, turn_id)
        if not records or await asyncio.to_thread(self._journal.owner_of, records[0].conversation_id) != owner:
            raise RequestError(f"there is no turn {turn_id[:40]!r}", "name one of your own, as `ask --json` prints it")
        plan = plan_to_tool(records)
        return await self._begin(owner, records[0].conversation_id, plan.request, keeps=plan)

    async def _begin(
        self,
        owner: str,
        conversation_id: str,
        request: str,
        files: Sequence[File] = (),
        keeps: SavedPlan | None = None,
        *,
        answers: Sequence[Answer] = (),
        rounds: int = 0,
        agent: str = "",
    ) -> Asked:
        history = await asyncio.to_thread(self._journal.messages, conversation_id)
        earlier = await self._earlier_files(conversation_id, files)
        turn_id = await asyncio.to_thread(self._journal.begin_turn, conversation_id, request)
        with owned_by(owner):
            turn = self.orchestrator.begin(
                request, history, files, earlier, keeps, agent=agent, answers=answers, rounds=rounds, conversation_id=conversation_id
            )
            self._turns.begin(owner, conversation_id, turn_id, turn)
        return Asked(conversation_id=conversation_id, turn_id=turn_id)

    async def _earlier_files(self, conversation_id: str, files: Sequence[File]) -> EarlierFiles:
        """What the conversation has; a file that comes with the request stands for earlier ones of its name."""
        known = await asyncio.to_thread(self._files.newest, conversation_id)
        replaced = {file.name for file in files}

        async def read(reference: FileReference) -> File:
            return await asyncio.to_thread(self._files.read, conversation_id, reference.sha256, reference.name)

        return EarlierFiles(tuple(r for r in known if r.name not in replaced)[: self.file_limits.count], read)

    async def stop(self, owner: str, turn_id: str) -> bool:
        """End a running turn of `owner`; False if there is none of that id."""
        return self._turns.stop(owner, turn_id)

    async def conversations(self, owner: str) -> tuple[ConversationSummary, ...]:
        """Somebody's conversations but those of projects, the newest first."""
        mine = await asyncio.to_thread(self._journal.conversations, owner)
        return tuple(c for c in mine if not self.projects.has(c.id))

    async def history(self, owner: str, conversation_id: str, after: int = 0) -> tuple[Record, ...]:
        """The records of a conversation after a number. Raises: RequestError if `owner` has no such conversation."""
        await asyncio.to_thread(self._journal.check_owner, owner, conversation_id)
        return await asyncio.to_thread(self._journal.history, conversation_id, after)

    async def file(self, owner: str, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation. Raises: RequestError if there is none, or `owner` has no such conversation."""
        await asyncio.to_thread(self._journal.check_owner, owner, conversation_id)
        return await asyncio.to_thread(self._files.read, conversation_id, sha256, name)

    def subscribe(self, on_records: Callable[[Sequence[Record]], None]) -> Callable[[], None]:
        """Have all records from now on, of every conversation; returns what ends that."""
        return self._recorder.subscribe(on_records)

    def on_library_change(self, callback: Callable[[str, str, str], None]) -> Callable[[], None]:
        """Have every change of the library from now on: the tool's name, what happened, why; returns what ends that."""
        return self._changes.subscribe(lambda change: callback(change.name, change.change, change.reason))

    async def tools(self) -> tuple[Tool, ...]:
        return await self.library.tools()

    async def tool(self, name: str) -> Tool:
        """Raises: ToolNotFound, ToolModified."""
        return await self.library.get(name)

    async def examples(self, owner: str, tool: Tool | ToolVersion) -> tuple[str, ...]:
        """The example requests of a tool, without those that somebody else had asked before it was there."""
        others = await asyncio.to_thread(self._journal.said_by_others, owner, tool.example_requests, tool.created_at)
        return tuple(request for request in tool.example_requests if request not in others)

    async def used_requests(self, owner: str, name: str) -> tuple[str, ...]:
        """Of what a tool has served and is found by, what `owner` has asked, the newest first."""
        used = await self.library.used_requests(name)
        own = await asyncio.to_thread(self._journal.said, owner, used)
        return tuple(request for request in used if request in own)

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        """Have a tool found no more by a request of `owner` that it has served; those that are left.

        Raises:
            RequestError: there is none such.
        """
        if request not in await self.used_requests(owner, name) or not await self.library.forget_request(name, request):
            raise RequestError(
                f"{name} is found by no request {request[:80]!r} of yours that it has served",
                f"`selfeng tools {name}` lists those of the terminal",
            )
        return await self.used_requests(owner, name)

    async def lessons(self) -> tuple[Lesson, ...]:
        """What was learnt from earlier turns, the weightiest first, expired ones last."""
        return await self.learning.lessons()

    async def edit_lesson(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        """Reword a lesson, which then begins anew. Raises: RequestError: there is no such lesson."""
        return await self.learning.edit(lesson_id, trigger, advice)

    async def remove_lesson(self, lesson_id: str) -> None:
        """Raises: RequestError: there is no such lesson."""
        await self.learning.remove(lesson_id)

    def on_lessons_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have every change of the lessons from now on told; returns what ends that."""
        return self.learning.on_change(callback)

    async def versions(self, name: str) -> tuple[ToolVersion, ...]:
        """Every version of a tool, the newest first; also of one that was removed. Raises: ToolNotFound."""
        return await self.library.versions(name)

    async def version(self, name: str, number: int) -> ToolVersion:
        """Raises: VersionNotFound."""
        return await self.library.version(name, number)

    async def difference(self, name: str, before: int, after: int) -> str:
        """A unified diff of code and tests of two versions. Raises: VersionNotFound."""
        return difference(await self.library.version(name, before), await self.library.version(name, after))

    async def rollback(self, name: str, to: int) -> Tool:
        """Raises: VersionNotFound, VersionConflict, ToolNotFound, ToolModified, as the library's `rollback`."""
        return await self.library.rollback(name, to)

    async def retire(self, name: str) -> Tool:
        """Raises: ToolNotFound."""
        return await self.library.retire(name)

    async def restore(self, name: str) -> Tool:
        """Raises: ToolNotFound."""
        return await self.library.restore(name)

    async def status(self) -> EngineStatus:
        sandbox, tools, index = await asyncio.gather(self.sandbox.status(), self.library.count(), self.library.settle(0))
        words = [f"{count(tools, 'tool')}, {_SEARCH[index]}{self._progress()}", *map(str, filter(None, [self.library.embedded]))]
        library = LibraryStatus(tools=tools, detail="; ".join(words))
        unready = self.readiness.unready
        return EngineStatus(model=self._model_status, sandbox=sandbox, library=library, files=self.file_limits, unready=unready)

    def on_status_change(self, callback: Callable[[], None]) -> None:
        """Call back whenever what is being set up has changed."""
        self.readiness.on_change(callback)

    def _progress(self) -> str:
        progress = self.library.indexing
        return f" ({progress.done:,} of {progress.total:,})" if progress else ""

    async def reindex(self, report: Callable[[int, int], None]) -> str:
        """Make the search index anew; `report` is told how many tools are in it, and of how many. Says how the library is searched then.

        Raises: LibraryError: the index can't be made here.
        """
        state = await self.library.reindex(report)
        if state != "ready":
            raise LibraryError(f"the library is {_SEARCH[state]}", _REMEDY[state])
        return _SEARCH[state]

    async def seed(self, report: Callable[[str], None], progress: Callable[[int, int], None] = lambda done, total: None) -> Planted:
        """Add the seed tools that are missing. Raises: SandboxError."""
        planted = await plant(load_seeds(), self.library, self.synthesis.examine, report, progress)
        await asyncio.to_thread(self._seeded.put)
        return planted

    async def seed_once(self, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Add the seed tools to a library that never had them; what was deleted since stays deleted. Raises: SandboxError."""
        if not await asyncio.to_thread(self._seeded.present):
            await self.seed(_log.info, progress)

    def set_up(self) -> None:
        """Begin to set up, in the background, what this machine lacks; requests wait for what they need, and `status` tells."""
        self.readiness.expect("search", "sandbox", "tools")
        for work in (self._set_up_search(), self._set_up_sandbox(), asyncio.to_thread(self.model.warm_up)):
            self._background.start(work)

    async def _set_up_search(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._parts["search"], lambda line: report(line, 0, 0))
            await self.library.embed()

        await awaited(self.readiness.news, "sandbox", lambda event: None)  # both keep the processor busy, and requests wait for that one
        await self.readiness.prepare("search", work)

    async def _set_up_sandbox(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._parts["sandbox"], lambda line: report(line, 0, 0))
            await self.get_ready()

        async def plant_seeds(report: Report) -> None:
            await self.seed_once(lambda done, total: report(f"{done} of {total} tools verified", done, total))

        await self.readiness.prepare("sandbox", work, then=("tools",))
        await self.readiness.prepare("tools", plant_seeds)

    async def get_ready(self, to_build: bool = True) -> None:
        """Have containers ready before the first request; `to_build`: also for tools that are yet to be built, or verified again."""
        await self.sandbox.reap()
        self.sandbox.start(verifiers=to_build)
        if to_build:
            self.upkeep.begin()

    async def learn_from_turns(self) -> None:
        """Look at each turn that ends from now on, in the background."""
        self._turns.learn = self.learning.begin

    async def stop_abandoned_turns(self) -> None:
        """End in the journal what killed servers left running."""
        await asyncio.to_thread(self._journal.stop_abandoned_turns)

    async def aclose(self) -> None:
        """End all turns, keep what they said, and let go of everything."""
        self._background.cancel()
        self._turns.learn = None
        self._turns.stop_all("The server ended.")
        await self._runtime.aflush_tasks()
        await self._recorder.aclose()
        await self._resources.aclose()
