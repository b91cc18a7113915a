"""The composition root: the one place where concrete classes meet, and the engine they make."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial

# Chroma's thread imports httpx while the openai SDK looks at as much of it as is there; so it is imported whole before.
import httpx  # noqa: F401
import sqlalchemy as sa
from anyio.from_thread import start_blocking_portal

from config import Settings, load_settings, make_folders
from src.capability_registry import CapabilityRegistry
from src.core.errors import ConfigurationError, DatabaseUnavailable, RequestError, SandboxError
from src.core.events import Record
from src.core.status import Asked, EngineStatus, LibraryStatus, ModelStatus
from src.core.tool import Tool
from src.core.turn import Limits
from src.core.words import count
from src.embedding.minilm import MiniLM
from src.embedding.model_files import FOLDER
from src.executor import Executor
from src.llm.pricing import free
from src.llm_client import LLMClient
from src.offline.cookbook import Cookbook
from src.offline.server import OfflineServer
from src.orchestrator import Orchestrator
from src.registry.change import LibraryChange
from src.response_synthesizer import ResponseSynthesizer
from src.sandbox import SecureSandbox
from src.seeding import Planted, SeedMark, plant
from src.seeds import load_seeds
from src.store.conversation import ConversationSummary
from src.store.database import id_of, open_database
from src.store.journal import Journal
from src.store.recorder import Recorder
from src.synthesis_engine import SynthesisEngine

LONGEST_REQUEST = 20_000
"""Characters."""
OFFLINE_MODEL = "offline"
SEEDED = ".seeded"
"""File in the tools folder that says that the seeds were added once, see `SeedMark`."""

_SEARCH = {
    "ready": "searched with Chroma",
    "behind": "searched exactly while the index is being built",
    "elsewhere": "searched exactly, as another process has the index",
    "broken": "searched exactly, as the index can't be opened",
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
        journal: Journal,
        recorder: Recorder,
        resources: AsyncExitStack,
    ) -> None:
        self.model, self.library, self.sandbox = model, library, sandbox
        self.synthesis, self.orchestrator = synthesis, orchestrator
        self._model_status, self._journal, self._recorder = model_status, journal, recorder
        self._changes, self._seeded, self._resources = changes, seeded, resources
        self._running: dict[str, tuple[str, asyncio.Task[object]]] = {}

    async def ask(self, owner: str, conversation_id: str | None, request: str) -> Asked:
        """Begin a turn, in a new conversation if none is named; its records reach the subscribers.

        Raises:
            RequestError: the request is blank or too long, or `owner` has no such conversation.
        """
        if not request.strip():
            raise RequestError("the request is blank", "write what you want to know or have done")
        if len(request) > LONGEST_REQUEST:
            raise RequestError(f"the request has {len(request)} characters", f"{LONGEST_REQUEST} are allowed; shorten it")
        if conversation_id is None:
            title = request.strip().splitlines()[0][:80]
            conversation_id = await asyncio.to_thread(self._journal.create_conversation, owner, title)
        else:
            await asyncio.to_thread(self._journal.check_owner, owner, conversation_id)
        history = await asyncio.to_thread(self._journal.messages, conversation_id)
        turn_id = await asyncio.to_thread(self._journal.begin_turn, conversation_id, request)
        emit = partial(self._recorder.emit, conversation_id, turn_id)
        task = asyncio.create_task(self.orchestrator.handle(request, emit, history), name=f"turn {turn_id}")
        self._running[turn_id] = owner, task
        task.add_done_callback(lambda _: self._running.pop(turn_id))
        return Asked(conversation_id=conversation_id, turn_id=turn_id)

    async def stop(self, owner: str, turn_id: str) -> bool:
        """End a running turn of `owner`; False if there is none of that id."""
        if self._running.get(turn_id, ("",))[0] != owner:
            return False
        await self._cancel([self._running[turn_id][1]], "Stopped on request.")
        return True

    async def conversations(self, owner: str) -> tuple[ConversationSummary, ...]:
        """Somebody's conversations, the newest first."""
        return await asyncio.to_thread(self._journal.conversations, owner)

    async def history(self, owner: str, conversation_id: str, after: int = 0) -> tuple[Record, ...]:
        """The records of a conversation after a number. Raises: RequestError if `owner` has no such conversation."""
        await asyncio.to_thread(self._journal.check_owner, owner, conversation_id)
        return await asyncio.to_thread(self._journal.history, conversation_id, after)

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

    async def status(self) -> EngineStatus:
        sandbox, tools, index = await asyncio.gather(self.sandbox.status(), self.library.tools(), self.library.settle(0))
        library = LibraryStatus(tools=len(tools), detail=f"{count(len(tools), 'tool')}, {_SEARCH[index]}")
        return EngineStatus(model=self._model_status, sandbox=sandbox, library=library)

    async def seed(self, report: Callable[[str], None]) -> Planted:
        """Add the seed tools that are missing. Raises: SandboxError."""
        planted = await plant(load_seeds(), self.library, self.synthesis.examine, report)
        await asyncio.to_thread(self._seeded.put)
        return planted

    async def seed_once(self, report: Callable[[str], None]) -> None:
        """Add the seed tools to a library that never had them; what was deleted since stays deleted. Raises: SandboxError."""
        if not await asyncio.to_thread(self._seeded.present):
            report("Adding the seed tools")
            await self.seed(report)

    async def stop_abandoned_turns(self) -> None:
        """End in the journal what killed servers left running."""
        await asyncio.to_thread(self._journal.stop_abandoned_turns)

    @staticmethod
    async def _cancel(tasks: Sequence[asyncio.Task[object]], reason: str) -> None:
        await asyncio.sleep(0)  # a task that is cancelled before its first step would end without its last event
        for task in tasks:
            task.cancel(reason)

    async def aclose(self) -> None:
        """End all turns, keep what they said, and let go of everything."""
        tasks = [task for _, task in self._running.values()]
        await self._cancel(tasks, "The server ended.")
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._recorder.aclose()
        await self._resources.aclose()


async def build_engine(settings: Settings) -> Engine:
    """The engine with everything it stands on; `aclose` takes it down.

    Raises:
        AgentError: a part can't be opened; the message says which and what to do.
    """
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(make_folders, settings)
        database = await asyncio.to_thread(_open_database, settings)
        stack.callback(database.dispose)
        embedder = MiniLM(settings.data_dir / FOLDER)
        sandbox = SecureSandbox(image=settings.docker_image_name, timeout=settings.docker_timeout, base_image=settings.base_image)
        stack.push_async_callback(sandbox.aclose)
        changes = Changes()
        library = CapabilityRegistry(database, settings.tools_dir, settings.chroma_persist_dir, embedder, on_change=changes.tell)
        stack.push_async_callback(library.aclose)
        await asyncio.gather(library.start(), _reap(sandbox))
        model, model_status = _model(settings, stack)
        stack.push_async_callback(model.aclose)
        synthesis = SynthesisEngine(model, sandbox, library, model.model, settings.synthesis_max_repairs)
        orchestrator = Orchestrator(
            library,
            Executor(model, sandbox, library),
            synthesis,
            ResponseSynthesizer(model),
            threshold=settings.similarity_threshold,
            limits=_limits(settings),
        )
        journal = Journal(database)
        return Engine(
            model=model,
            model_status=model_status,
            sandbox=sandbox,
            library=library,
            changes=changes,
            seeded=SeedMark(settings.tools_dir / SEEDED, await asyncio.to_thread(id_of, database)),
            orchestrator=orchestrator,
            synthesis=synthesis,
            journal=journal,
            recorder=Recorder(journal),
            resources=stack.pop_all(),
        )


@contextmanager
def open_orchestrator(settings: Settings | None = None) -> Iterator[Orchestrator]:
    """The engine on an event loop in a thread of its own, for synchronous programs: `process_request` is its door.

    Raises: as `build_engine`; without `settings` also ConfigurationError.
    """
    with start_blocking_portal() as portal:
        engine = portal.call(build_engine, settings or load_settings())
        try:
            yield engine.orchestrator
        finally:
            portal.call(engine.aclose)


def _open_database(settings: Settings) -> sa.Engine:
    try:
        return open_database(settings.database)
    except DatabaseUnavailable as error:
        variable = "DATABASE_URL" if settings.database_url else "DATA_DIR"
        raise ConfigurationError(f"{variable}: {error.message}", error.remedy) from error


async def _reap(sandbox: SecureSandbox) -> None:
    """Remove the containers of servers that were killed; without an engine there are none to see."""
    with suppress(SandboxError):
        await sandbox.reap()


def _model(settings: Settings, stack: AsyncExitStack) -> tuple[LLMClient, ModelStatus]:
    client = partial(LLMClient, timeout=settings.openai_timeout, max_retries=settings.openai_max_retries)
    if settings.offline:
        server = stack.enter_context(OfflineServer(Cookbook(), model=OFFLINE_MODEL))
        detail = "Built-in offline model: it knows a cookbook of small tools. OPENAI_API_KEY or OPENAI_BASE_URL gives a full one."
        status = ModelStatus(name=OFFLINE_MODEL, offline=True, detail=detail)
        return client(model=OFFLINE_MODEL, api_key=server.api_key, base_url=server.base_url, price=free), status
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    full = client(model=settings.openai_model, api_key=key, base_url=settings.openai_base_url)
    return full, ModelStatus(name=full.model, offline=False, detail=f"{full.model} at {full.server}")


def _limits(settings: Settings) -> Limits:
    return Limits(
        calls=settings.turn_max_calls, tokens=settings.turn_max_tokens, seconds=settings.turn_max_seconds, cost=settings.turn_max_cost
    )
