"""The composition root: the one place where concrete classes meet."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import sqlalchemy as sa

from selfeng.agents import Delegation, FunctionArguments, coder, proxy
from selfeng.capability_registry import CapabilityRegistry, LibraryChange, TrustRule
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import ConfigurationError, DatabaseUnavailable
from selfeng.core.events import Limits
from selfeng.core.files import MB, FileLimits
from selfeng.core.functions import NO_TOOL_FITS
from selfeng.core.places import VERSION
from selfeng.core.settings import Settings, load_settings, make_folders
from selfeng.core.turn import News
from selfeng.durable.doors import (
    DurableModel,
    DurableThreads,
    durable_recall,
    durable_wait,
    in_steps,
)
from selfeng.durable.workflows import Workflows, sources_digest
from selfeng.engine import Engine, ModelParts, ToolParts, TurnParts
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learner import Learner, Turns
from selfeng.lessons.learning import Learning
from selfeng.library.composition.linked_sandbox import LinkedSandbox
from selfeng.library.composition.reverification import Reverification, Reverified, Reverifier
from selfeng.library.composition.sources import PinnedSources
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_export import ToolExport
from selfeng.library.exchange.tool_import import ToolImport
from selfeng.library.parameters import FOLDER as RANKING
from selfeng.library.ranking import Ranking
from selfeng.library.seeding import SeedMark
from selfeng.library.tool_editor import Proposals, ProposingLibrary
from selfeng.llm_client import LLMClient, provider_named
from selfeng.mcp_client.mcp_servers import McpServers
from selfeng.models.embedding.embedder_choice import chosen_embedder, former_embedder
from selfeng.models.embedding.minilm import MiniLM
from selfeng.models.pricing import free
from selfeng.orchestrator import Orchestrator
from selfeng.projects.actions import PROJECT_ACTIONS
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_agent import ProjectAgent
from selfeng.projects.service import ProjectService
from selfeng.provision.configuration import Configuration
from selfeng.provision.local_servers import PORTS, local_servers
from selfeng.provision.parts import make_image, prepare_search
from selfeng.provision.readiness import Readiness
from selfeng.sandbox import SecureSandbox
from selfeng.stages.decision import Thresholds
from selfeng.stages.execution.file_profiler import FileProfiler
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.store.backup import in_use, restore_backup, write_backup
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import open_database, sole_server
from selfeng.store.journal import Journal
from selfeng.store.known_tools import KnownTools
from selfeng.store.news import NewsListener
from selfeng.store.processes import Processes
from selfeng.store.recorder import Feed, Recorder
from selfeng.store.shares import Shares
from selfeng.store.threads import Threads
from selfeng.store.turn_queue import QueueLimits, TurnQueue
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from selfeng.turns.turn_registry import TurnRegistry

if TYPE_CHECKING:
    from selfeng.models.embedding.openai_embedder import OpenAIEmbedder

EmbedderT = TypeVar("EmbedderT", bound="MiniLM | OpenAIEmbedder | None")

log = logging.getLogger(__name__)

OFFLINE_MODEL = "offline"
"""The name of the model, and of the entry point that provides it."""
_PROJECTS = FileLimits(count=1, size=10 * MB)
"""The input and output of a project run, which are one archive."""
PROJECTS = "projects"
"""Folder in DATA_DIR for projects that are built on the page."""
DELEGATED = "delegated"
"""Folder in DATA_DIR for projects that agents build."""
STEPS = "steps.db"
"""File in DATA_DIR that keeps the steps of running turns."""
SEEDED = ".seeded"
"""File in the tools folder by which older versions recorded that the seeds were added."""


async def build_engine(settings: Settings, *, durable: bool = False) -> Engine:
    """The engine with all its parts; close it with `aclose`. `durable`: as a server, whose turns go
    on when a process that ended is started again.

    Raises:
        AgentError: a part can't be opened; the message says which and what to do.
    """
    async with AsyncExitStack() as stack:
        if "OTEL_TRACES_EXPORTER" in os.environ:
            from selfeng.core.tracing import configure_tracing, flush_spans

            await asyncio.to_thread(configure_tracing)
            stack.push_async_callback(asyncio.to_thread, flush_spans)
        await asyncio.to_thread(make_folders, settings)
        stack.enter_context(in_use(settings.data_dir))
        database = await asyncio.to_thread(_open_database, settings)
        stack.callback(database.dispose)
        if durable:
            stack.enter_context(sole_server(database))
        minilm = MiniLM.below(settings.parts)
        # What serves the page answers no look, but would count it as a request without the token.
        ports = {port: kind for port, kind in PORTS.items() if port != settings.flask_port}
        configuration = Configuration(settings, _connect, partial(local_servers, ports))
        stack.push_async_callback(configuration.aclose)
        tools = await _tool_parts(settings, stack, database, minilm, configuration.client)
        learning = _learning(settings, database, minilm, configuration.client)
        stack.push_async_callback(learning.aclose)
        runtime = BackgroundTasks()
        stack.push_async_callback(runtime.aclose)
        readiness = Readiness()
        builder = partial(
            ProjectBuilder,
            sandbox=_project_sandbox(settings, stack),
            seconds=settings.docker_timeout,
            packages=_Layers(settings, await stack.enter_async_context(AsyncExitStack())),
        )
        turns = _turn_parts(configuration, database, runtime)
        workflows = None
        if durable:
            version = await asyncio.to_thread(sources_digest)
            workflows = Workflows(_steps_url(settings), version, turns.journal.running_turns)
            stack.push_async_callback(workflows.aclose)
        servers = McpServers(
            settings.mcp_config,
            KnownTools(database),
            tools.library.compare,
            timeout=settings.mcp_timeout,
            limits=settings.result_limits,
        )
        stack.push_async_callback(servers.aclose)
        log.info(
            "selfeng %s: model %s at %s, sandbox %s, database %s, data in %s",
            VERSION,
            configuration.client.model,
            configuration.status.server or "this machine",
            settings.sandbox,
            database.dialect.name,
            settings.data_dir,
        )
        return Engine(
            configuration=configuration,
            model_parts=partial(
                _model_parts,
                configuration,
                database=database,
                tools=tools,
                other_servers=servers,
                learning=learning,
                runtime=runtime,
                news=readiness.news,
                make_builder=builder,
            ),
            tool_parts=tools,
            workflows=workflows,
            turn_parts=turns,
            servers=servers,
            learning=learning,
            projects=ProjectService(
                settings.data_dir / PROJECTS,
                builder(configuration.client),
                turns.journal,
                turns.turns,
                runtime,
                news=readiness.news,
                workflows=workflows,
            ),
            readiness=readiness,
            set_ups={
                "search": partial(prepare_search, settings),
                "sandbox": partial(make_image, tools.sandbox),
            },
            resources=stack.pop_all(),
        )


def _model_parts(
    configuration: Configuration,
    *,
    database: sa.Engine,
    tools: ToolParts,
    other_servers: McpServers,
    learning: Learning,
    runtime: BackgroundTasks,
    news: News,
    make_builder: Callable[[LLMClient], ProjectBuilder],
) -> ModelParts:
    """The parts that work with the model, made again when it changes; all others stay."""
    settings, model = configuration.settings, configuration.client
    builder, durable_model = make_builder(model), DurableModel(model)
    changed_library = tools.library
    if settings.library_changes == "ask":
        proposing = ProposingLibrary(tools.library, tools.proposals)
        changed_library = cast(CapabilityRegistry, proposing)
    library, sandbox = in_steps("library", changed_library), in_steps("sandbox", tools.sandbox)
    servers = in_steps("servers", other_servers)
    executor = Executor(durable_model, sandbox, library, tools.sources, servers)
    synthesis = _synthesis(settings, model, tools.sandbox, changed_library, tools.sources)
    projects = ProjectAgent(builder, settings.data_dir / DELEGATED)
    agents = (proxy(durable_model), coder(durable_model), projects)
    threads = DurableThreads(Threads(database))
    orchestrator = Orchestrator(
        library,
        executor,
        synthesis,
        ResponseSynthesizer(durable_model),
        thresholds=Thresholds(
            threshold=settings.similarity_threshold,
            floor=min(settings.search_floor, settings.similarity_threshold),
        ),
        limits=Limits(
            calls=settings.turn_max_calls,
            tokens=settings.turn_max_tokens,
            seconds=settings.turn_max_seconds,
            cost=settings.turn_max_cost,
        ),
        runtime=runtime,
        recall=lambda: durable_recall(learning.recall()),
        delegation=Delegation(sandbox, agents, threads),
        news=news,
        wait=durable_wait,
        servers=servers,
        inspector=in_steps("inspector", FileProfiler(tools.sandbox)),
    )
    return ModelParts(
        model, synthesis, executor, orchestrator, learning.learner.asking(model), builder
    )


def _synthesis(
    settings: Settings,
    model: LLMClient,
    sandbox: SecureSandbox,
    library: CapabilityRegistry,
    sources: PinnedSources,
) -> SynthesisEngine:
    policy = SynthesisPolicy(
        max_repairs=settings.synthesis_max_repairs,
        candidates=settings.synthesis_candidates,
        mutation_score=settings.synthesis_mutation_score,
    )
    linked = in_steps("sandbox", LinkedSandbox(sandbox, library, sources))
    return SynthesisEngine(
        DurableModel(model),
        linked,
        in_steps("library", library),
        model.model,
        policy,
        sources=sources,
    )


async def _tool_parts(
    settings: Settings,
    stack: AsyncExitStack,
    database: sa.Engine,
    minilm: MiniLM,
    model: LLMClient,
) -> ToolParts:
    """The library, started, and what builds and verifies its tools; closed with the stack."""
    embedder = _closed_with(stack, chosen_embedder(settings, minilm))
    sandbox = SecureSandbox.from_settings(settings)
    stack.push_async_callback(sandbox.aclose)
    changes = Changes[LibraryChange]()
    library = CapabilityRegistry(
        database,
        settings.tools_dir,
        settings.chroma_url or settings.chroma_persist_dir,
        embedder,
        parts=settings.parts,
        ranking=Ranking.for_embedder(embedder.id, settings.data_dir / RANKING),
        former=lambda embedder_id: _closed_with(
            stack, former_embedder(settings, minilm, embedder_id)
        ),
        reserved=reserved_names,
        trust=TrustRule(settings.trust_after, settings.retire_after),
        on_change=changes.tell,
    )
    stack.push_async_callback(library.aclose)
    await library.start()
    sources = PinnedSources(library)
    chain = _synthesis(settings, model, sandbox, library, sources)  # it asks no model here
    upkeep = _upkeep(
        changes, Reverification(library, chain.reexamine, sources, partial(_tell, changes))
    )
    stack.push_async_callback(upkeep.aclose)
    seeded = SeedMark(database, settings.tools_dir / SEEDED)
    keys = SigningKeys(settings.data_dir)
    return ToolParts(
        library,
        sources,
        changes,
        seeded,
        sandbox,
        upkeep,
        ToolExport(library, keys),
        ToolImport(library, keys, chain.examine_imported),
        Proposals(database),
    )


def reserved_names() -> frozenset[str]:
    """Names of the functions that models and programs know beside the tools; no tool gets one."""
    from selfeng.doors.engine_tools import FIXED  # imports MCP, which a start need not wait for

    of_agents = (kind.function for kind in FunctionArguments.__subclasses__())
    return frozenset({NO_TOOL_FITS.name, *FIXED, *PROJECT_ACTIONS.names, *of_agents})


def _turn_parts(
    configuration: Configuration, database: sa.Engine, runtime: BackgroundTasks
) -> TurnParts:
    processes = Processes(database)
    journal = Journal(database, processes=processes)
    recorder = Recorder(journal)
    files = ConversationFiles(database, configuration.settings.large_files)
    queue = TurnQueue(database, lambda: _queue_limits(configuration.settings))
    room = configuration.settings.turns_per_process
    return TurnParts(
        turns=TurnRegistry(
            recorder, queue, lambda: room, runtime.start, partial(_blocked, room, processes)
        ),
        queue=queue,
        runtime=runtime,
        journal=journal,
        processes=processes,
        recorder=recorder,
        feed=Feed(journal, recorder),
        news=NewsListener(database),
        files=files,
        file_limits=configuration.settings.file_limits,
        shares=Shares(database, journal, files),
    )


def _blocked(room: int, processes: Processes) -> str:
    """Why no process takes a turn out of the queue, as far as this one, with this room, knows."""
    workers = processes.workers
    if room or any(not worker.unready for worker in workers):
        return ""
    if not workers:
        return "no worker runs: start `selfeng worker` with the same DATABASE_URL"
    return "; ".join(f"the worker on {w.machine} is not ready: {w.unready}" for w in workers)


def _steps_url(settings: Settings) -> str:
    """Where every process that may go on with a turn finds its steps."""
    if settings.database.startswith("postgresql"):
        return settings.database
    file = settings.data_dir / STEPS
    file.touch(0o600)
    return f"sqlite:///{file}"


def back_up(settings: Settings, target: Path) -> int:
    """Write a backup, also while servers run; returns its bytes. Blocking.

    Raises: BackupError, ConfigurationError.
    """
    database = _open_database(settings)
    try:
        return write_backup(database, _stored(settings), target)
    finally:
        database.dispose()


def restore(settings: Settings, source: Path, before: Path) -> dict[str, int]:
    """Write a backup of what is there to `before`, then replace it by what is in `source`. Returns
    the number of rows by table. Blocking.

    Raises: BackupError, also if another process uses the data; ConfigurationError.
    """
    with in_use(settings.data_dir, alone=True):
        database = _open_database(settings)
        try:
            write_backup(database, _stored(settings), before)
            counts = restore_backup(source, database, _stored(settings))
        finally:
            database.dispose()
    return counts


def _stored(settings: Settings) -> dict[str, Path]:
    """Folders that can't be made again, by their names in a backup."""
    data = settings.data_dir
    folders = {name: data / name for name in (PROJECTS, DELEGATED, RANKING)}
    return {"tools": settings.tools_dir, **folders}


@asynccontextmanager
async def open_builder(
    options: ProjectOptions, settings: Settings | None = None
) -> AsyncIterator[ProjectBuilder]:
    """The project builder with all its parts, for a build with these options.

    Raises:
        AgentError: a part can't be opened; the message says which and what to do.
    """
    settings = _with(options, settings or load_settings())
    async with AsyncExitStack() as stack:
        sandbox = _project_sandbox(settings, stack)
        await sandbox.reap()
        model = _connect(settings, lambda: None)
        stack.push_async_callback(model.aclose)
        yield ProjectBuilder(
            model, sandbox, seconds=settings.docker_timeout, packages=_Layers(settings, stack)
        )


def _project_sandbox(
    settings: Settings, stack: AsyncExitStack, packages: tuple[str, ...] = ()
) -> SecureSandbox:
    """A sandbox with room for a whole project; closed with the stack."""
    sandbox = SecureSandbox.from_settings(settings, files=_PROJECTS, packages=packages)
    stack.push_async_callback(sandbox.aclose)
    return sandbox


class _Layers:
    """Sandboxes for projects with additional packages, built on first use and closed with the
    stack.
    """

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self._settings, self._stack = settings, stack
        self._sandboxes: dict[tuple[str, ...], SecureSandbox] = {}
        self._building = asyncio.Lock()

    async def sandbox_with(self, packages: tuple[str, ...]) -> SecureSandbox:
        async with self._building:
            if packages not in self._sandboxes:
                sandbox = _project_sandbox(self._settings, self._stack, packages)
                if not await asyncio.to_thread(sandbox.image_is_current):
                    await asyncio.to_thread(sandbox.build_image)
                self._sandboxes[packages] = sandbox
            return self._sandboxes[packages]


def _with(options: ProjectOptions, settings: Settings) -> Settings:
    """The settings with the model that a build asks for. Raises: ConfigurationError: no server has
    that model.
    """
    key = {"openai_api_key": options.api_key} if options.api_key else {}
    model = {"openai_model": options.model} if options.model else {}
    changed = settings.model_copy(update=key | model)
    if changed.offline and options.model not in (None, OFFLINE_MODEL):
        raise ConfigurationError(
            f"there is no server for the model {options.model!r}",
            "give `api_key`, or set OPENAI_BASE_URL",
        )
    return changed


def _closed_with(stack: AsyncExitStack, embedder: EmbedderT) -> EmbedderT:
    if embedder is not None and not isinstance(embedder, MiniLM):
        stack.callback(embedder.close)
    return embedder


def _open_database(settings: Settings) -> sa.Engine:
    try:
        return open_database(settings.database)
    except DatabaseUnavailable as error:
        variable = "DATABASE_URL" if settings.database_url else "DATA_DIR"
        raise ConfigurationError(f"{variable}: {error.message}", error.remedy) from error


def _connect(settings: Settings, news: Callable[[], None]) -> LLMClient:
    """The client of the model that the settings name."""
    client = partial(
        LLMClient,
        timeout=settings.openai_timeout,
        max_retries=settings.openai_max_retries,
        news=news,
    )
    if settings.offline:
        provider = provider_named(OFFLINE_MODEL)
        return client(model=OFFLINE_MODEL, price=free, unopened=False, provider=provider)
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return client(
        model=settings.openai_model,
        api_key=key,
        base_url=settings.openai_base_url,
        headers=settings.headers,
        api=settings.openai_api,
        provider=provider_named(settings.openai_api),
    )


def _upkeep(changes: Changes[LibraryChange], reverification: Reverification) -> Reverifier:
    """Re-verifies the tools that import a tool whenever it gets a new version."""
    upkeep = Reverifier(reverification)
    changes.subscribe(
        lambda change: (
            upkeep.tool_changed(change.name)
            if change.change in ("added", "revised", "restored")
            else None
        )
    )
    return upkeep


def _tell(changes: Changes[LibraryChange], outcome: Reverified) -> None:
    """The library reports new versions itself."""
    if outcome.problem:
        changes.tell(LibraryChange(name=outcome.name, change="kept_back", reason=f"{outcome}."))


def _learning(
    settings: Settings, database: sa.Engine, minilm: MiniLM, model: LLMClient
) -> Learning:
    """Lessons are found with MiniLM whatever EMBEDDER says, because the distance threshold was
    measured with it.
    """
    book, turns = LessonBook(database, minilm), Turns(database)
    limits = Limits(
        calls=settings.lessons_max_calls,
        tokens=settings.lessons_max_tokens,
        seconds=settings.lessons_max_seconds,
    )
    learner = Learner(model, book, turns, limits)
    return Learning(
        learner,
        book,
        turns,
        shown_limit=settings.lessons_shown,
        expire_days=settings.lessons_expire_days,
    )


def _queue_limits(settings: Settings) -> QueueLimits:
    return QueueLimits(
        running=settings.turns_max_running,
        running_of_person=settings.turns_max_per_person,
        waiting=settings.turns_max_waiting,
    )
