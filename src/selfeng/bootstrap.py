"""The composition root: the one place where concrete classes meet."""

import asyncio
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import sqlalchemy as sa

from selfeng.agents import Delegation, FunctionArguments, coder, proxy
from selfeng.capability_registry import CapabilityRegistry, LibraryChange, TrustRule
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes, Renewed
from selfeng.core.composition import FreeTools
from selfeng.core.errors import ConfigurationError, DatabaseUnavailable
from selfeng.core.events import Event, Limits
from selfeng.core.files import MB, FileLimits
from selfeng.core.functions import NO_TOOL_FITS
from selfeng.core.logs import log_event
from selfeng.core.owner import LOCAL
from selfeng.core.places import VERSION
from selfeng.core.settings import Settings, load_settings, make_folders
from selfeng.core.stage_event import Usage
from selfeng.core.turn import News, ProjectBuild, Request
from selfeng.doors.fixed_tools import FIXED
from selfeng.durable.doors import (
    DurableModel,
    DurableThreads,
    durable_recall,
    durable_wait,
    in_steps,
)
from selfeng.durable.turn_work import TurnRecovery, TurnStarter
from selfeng.durable.workflows import Workflows, sources_digest, steps_url
from selfeng.engine import Engine, ModelParts
from selfeng.lessons.learning import Learning
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from selfeng.library.composition.reverification import Reverification, Reverified
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_export import ToolExport
from selfeng.library.exchange.tool_import import ToolImport
from selfeng.library.ranking import FOLDER as RANKING
from selfeng.library.ranking import Ranking
from selfeng.library.seeding import SeedMark
from selfeng.library.tool_editor import Proposals, ProposingLibrary
from selfeng.llm_client import OFFLINE_MODEL, LLMClient
from selfeng.models.embedding.embedder_choice import chosen_embedder, former_embedder
from selfeng.models.embedding.minilm import MiniLM
from selfeng.orchestrator import Orchestrator, RequestTurns
from selfeng.projects.actions import PROJECT_ACTIONS
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_agent import ProjectAgent, keep_projects
from selfeng.projects.service import ProjectService
from selfeng.provision.configuration import Configuration
from selfeng.provision.local_servers import PORTS, local_servers
from selfeng.provision.parts import make_image, prepare_search
from selfeng.provision.setup import Readiness, Setup
from selfeng.sandbox import SecureSandbox
from selfeng.servers.broker import Broker
from selfeng.servers.deliveries import Deliveries
from selfeng.servers.mcp_servers import McpServers
from selfeng.servers.tool_network import GrantedNetwork
from selfeng.servers.vault import Vault
from selfeng.stages.decision import Thresholds
from selfeng.stages.execution.contract import DriftAlarm
from selfeng.stages.execution.file_profiler import FileProfiler
from selfeng.stages.executor import Executor
from selfeng.stages.library_health import HealthReports
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.stages.scheduler import Scheduler
from selfeng.stages.tool_review import EarlierAnswers, ToolReview
from selfeng.stages.updates import Updates
from selfeng.stages.watched_folders import WatchedFolders
from selfeng.store.backup import copy_database, in_use, restore_backup, write_backup
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import attach, open_database, sole_server
from selfeng.store.grants import Grants
from selfeng.store.journal import Journal
from selfeng.store.known_tools import KnownTools
from selfeng.store.news import NewsListener
from selfeng.store.processes import Processes
from selfeng.store.recorder import Feed, Recorder
from selfeng.store.retention import PersonalData, Retention
from selfeng.store.schedules import Schedules
from selfeng.store.shares import Shares
from selfeng.store.spending import Spending
from selfeng.store.subscriptions import Subscriptions
from selfeng.store.threads import Threads
from selfeng.store.turn_queue import ClaimedTurn, QueueLimits, TurnQueue
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from selfeng.turns.conversations import Conversations
from selfeng.turns.event_numbers import NumberedEvent
from selfeng.turns.turn_registry import TurnRegistry

if TYPE_CHECKING:
    from selfeng.models.embedding.openai_embedder import OpenAIEmbedder

EmbedderT = TypeVar("EmbedderT", bound="MiniLM | OpenAIEmbedder | None")

log = logging.getLogger(__name__)

_PROJECTS = FileLimits(count=1, size=10 * MB)
"""The input and output of a project run, which are one archive."""
PROJECTS = "projects"
"""Folder in DATA_DIR for projects that are built on the page."""
DELEGATED = "delegated"
"""Folder in DATA_DIR for projects that agents build."""
SCHEDULED = "scheduled"
"""Folder in DATA_DIR for results of schedules."""


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
        # The page's own server is left out: it would count the look as a request without the token.
        ports = {port: kind for port, kind in PORTS.items() if port != settings.flask_port}
        configuration = Configuration(
            settings, LLMClient.from_settings, partial(local_servers, ports)
        )
        stack.push_async_callback(configuration.aclose)
        spending = Spending(database, lambda: configuration.settings.month_max_cost)
        tools = await _tool_parts(
            settings, stack, database, minilm, configuration.client, spending=spending
        )
        readiness, runtime = Readiness(), BackgroundTasks()
        stack.push_async_callback(runtime.aclose)
        make_builder = partial(
            ProjectBuilder,
            sandbox=_project_sandbox(settings, stack),
            seconds=settings.docker_timeout,
            tools=FreeTools(tools.library, tools.sources.of),
        )
        processes = Processes(database, room=settings.turns_per_process)
        journal = Journal(
            database,
            processes=processes,
            teaches=lambda: learning.active,
            keep_days=lambda: configuration.settings.keep_days,
        )
        learning = Learning.from_settings(
            lambda: configuration.settings,
            database,
            minilm,  # whatever EMBEDDER says: the distance threshold was measured with it
            lambda: configuration.client,
            unexamined=journal.take_over_unexamined,
            spending=spending,
        )
        stack.push_async_callback(learning.aclose)
        workflows = None
        if durable:
            version = await asyncio.to_thread(sources_digest)
            workflows = Workflows(steps_url(settings), version, journal.running_turns)
            stack.push_async_callback(workflows.aclose)
        servers = McpServers(
            settings.mcp_config,
            KnownTools(database),
            tools.library.compare,
            timeout=settings.mcp_timeout,
            limits=settings.result_limits,
        )
        stack.push_async_callback(servers.aclose)
        vault = Vault(database, settings.data_dir)
        broker, check = Broker(vault.value), tools.sandbox.check_limits
        network = GrantedNetwork(tools.sandbox, broker, Grants(database), check)
        log.info(
            "selfeng %s: model %s at %s, sandbox %s, database %s, data in %s",
            VERSION,
            configuration.client.model,
            configuration.status.server or "this machine",
            settings.sandbox,
            database.dialect.name,
            settings.data_dir,
        )
        return compose(
            configuration,
            database,
            stack,
            model_parts=partial(
                _model_parts,
                configuration,
                database=database,
                spending=spending,
                tools=tools,
                other_servers=servers,
                granted_network=network,
                learning=learning,
                runtime=runtime,
                news=readiness.news,
                make_builder=make_builder,
            ),
            tools=tools,
            servers=servers,
            network=network,
            broker=broker,
            vault=vault,
            learning=learning,
            journal=journal,
            spending=spending,
            processes=processes,
            runtime=runtime,
            readiness=readiness,
            builder=lambda: make_builder(configuration.client),
            workflows=workflows,
        )


@dataclass(frozen=True)
class ToolParts:
    """The library, and where its tools run."""

    library: CapabilityRegistry
    sources: PinnedSources
    changes: Changes[LibraryChange]
    sandbox: SecureSandbox
    upkeep: Reverification


def compose(
    configuration: Configuration,
    database: sa.Engine,
    stack: AsyncExitStack,
    *,
    model_parts: Callable[[str], ModelParts],
    tools: ToolParts,
    servers: McpServers,
    network: GrantedNetwork,
    broker: Broker,
    vault: Vault,
    learning: Learning,
    journal: Journal,
    spending: Spending,
    processes: Processes,
    runtime: BackgroundTasks,
    readiness: Readiness,
    builder: Callable[[], ProjectBuilder],
    workflows: Workflows | None = None,
) -> Engine:
    """The engine of these parts, which closes the stack. `model_parts` makes those that work with
    a model, "" for the configured one, and `builder` the one that builds projects now;
    `workflows` keep the steps of turns that outlive the process.
    """
    settings = configuration.settings
    background, called = BackgroundTasks(), Changes[Event]()
    stack.push_async_callback(background.aclose)
    called.subscribe(log_event)
    files = ConversationFiles(database, settings.large_files)
    recorder = Recorder(journal)
    feed = Feed(journal, recorder)

    queue = TurnQueue(
        database,
        lambda: QueueLimits(
            running=configuration.settings.turns_max_running,
            running_of_person=configuration.settings.turns_max_per_person,
            waiting=configuration.settings.turns_max_waiting,
        ),
    )
    turns = TurnRegistry(
        recorder,
        queue,
        lambda: settings.turns_per_process,
        runtime.start,
        processes.blocked,
        on_end=learning.turn_ended,
        take=lambda claimed: recovery.take(claimed),  # noqa: PLW0108 - which is made below
    )
    models = Renewed(model_parts, configuration.changed)
    configuration.changed.subscribe(turns.reconsider)
    conversations = Conversations(journal, files, feed, turns)
    requests = RequestTurns(
        lambda model: models.variant(model).orchestrator,
        TurnStarter(journal, turns, workflows),
        feed=feed,
        journal=journal,
        files=files,
        most_files=settings.file_limits.count,
    )
    projects = ProjectService(
        settings.data_dir / PROJECTS,
        builder,
        journal,
        turns,
        runtime,
        month=spending.month,
        news=readiness.news,
        workflows=workflows,
    )

    async def resume(
        claimed: ClaimedTurn, request: Request, events: Sequence[NumberedEvent]
    ) -> None:
        service = projects if isinstance(request.kind, ProjectBuild) else requests
        await service.resume(claimed, request, events)

    retention = Retention(
        database,
        journal,
        claim=processes.claim,
        lesson_days=lambda: configuration.settings.lessons_expire_days,
        files=settings.large_files,
        keep_projects=partial(keep_projects, settings.data_dir / DELEGATED),
    )
    recovery = TurnRecovery(
        resume if workflows else None,
        turns,
        queue,
        journal=journal,
        files=files,
        processes=processes,
        recorder=recorder,
        sweep=retention.sweep,
        unready=lambda: readiness.reason,
        changed=readiness.changed,
        background=background,
    )
    schedules = Scheduler(
        Schedules(database),
        tools.library,
        requests.begin,
        turns,
        journal=journal,
        files=files,
        deliveries=Deliveries(broker, Grants(database), vault.value, settings.data_dir / SCHEDULED),
        folders=WatchedFolders(
            lambda: configuration.settings.watched_folders,
            settings.file_limits,
            settings.large_files,
        ),
        background=background,
        emit=partial(recorder.emit, scope="delivery", n=1),
    )
    earlier_answers = EarlierAnswers(
        tools.library,
        lambda: models.current.executor,
        journal=journal,
        files=files,
        recorder=recorder,
    )
    news = NewsListener(
        database,
        {
            "journal": feed.news,
            "conversations": lambda about: conversations.changed.tell(""),
            "library": lambda about: background.start(tools.library.count()),
            "lessons": lambda about: learning.changed.tell(),
            "queue": lambda about: turns.reconsider(changed=False),
            "stop": turns.stop_here,
        },
    )
    stack.push_async_callback(news.aclose)
    keys = SigningKeys(settings.data_dir)
    review = ToolReview(
        tools.library,
        lambda: models.current.synthesis,
        proposals=Proposals(database),
        journal=journal,
        recorder=recorder,
        earlier_answers=earlier_answers,
    )
    tool_import = ToolImport(
        tools.library,
        keys,
        lambda draft, beside=(), *, alone=False: models.current.synthesis.examine_imported(
            draft, beside, alone=alone
        ),
    )
    updates = Updates(
        Subscriptions(database),
        tools.library,
        tool_import,
        review,
        broker=broker,
        grants=Grants(database),
    )
    alarm = DriftAlarm(
        tools.library,
        network,
        processes.claim,
        lambda: configuration.settings.services_check_hours,
        then=updates.check_all,
    )
    return Engine(
        conversations=conversations,
        configuration=configuration,
        model_parts=models,
        library=tools.library,
        changes=tools.changes,
        review=review,
        earlier_answers=earlier_answers,
        health=HealthReports(
            tools.library,
            tools.sandbox,
            tools.sources,
            lambda: models.current.synthesis,
            journal=journal,
            earlier_answers=earlier_answers,
            accounts=spending.tools,
            least_score=lambda: configuration.settings.synthesis_mutation_score,
        ),
        tool_export=ToolExport(tools.library, keys),
        tool_import=tool_import,
        updates=updates,
        upkeep=tools.upkeep,
        sandbox=tools.sandbox,
        learning=learning,
        projects=projects,
        servers=servers,
        network=network,
        vault=vault,
        shares=Shares(database, journal, files),
        schedules=schedules,
        setup=Setup(
            {
                "search": partial(prepare_search, settings),
                "sandbox": partial(make_image, tools.sandbox),
            },
            configuration,
            readiness=readiness,
            library=tools.library,
            synthesis=lambda: models.current.synthesis,
            sandbox=tools.sandbox,
            upkeep=tools.upkeep,
            seeded=SeedMark(database),
            processes=processes,
            background=background,
            watches=(alarm.run, *((schedules.run,) if workflows else ())),
        ),
        readiness=readiness,
        recovery=recovery,
        recorder=recorder,
        feed=feed,
        news=news,
        called=called,
        file_limits=settings.file_limits,
        requests=requests,
        turns=turns,
        queue=queue,
        journal=journal,
        spending=spending,
        personal_data=PersonalData(database, journal, settings.large_files),
        retention=retention,
        workflows=workflows,
        files=files,
        processes=processes,
        runtime=runtime,
        background=background,
        resources=stack.pop_all(),
    )


def _model_parts(
    configuration: Configuration,
    name: str,
    *,
    database: sa.Engine,
    spending: Spending,
    tools: ToolParts,
    other_servers: McpServers,
    granted_network: GrantedNetwork,
    learning: Learning,
    runtime: BackgroundTasks,
    news: News,
    make_builder: Callable[[LLMClient], ProjectBuilder],
) -> ModelParts:
    """The parts that work with a model, made again when the settings change; all others stay."""
    settings, model = configuration.settings, configuration.client_of(name)
    durable_model = DurableModel(model)
    changed_library = tools.library
    if settings.library_changes == "ask":
        proposing = ProposingLibrary(tools.library, Proposals(database))
        changed_library = cast(CapabilityRegistry, proposing)
    library, sandbox = in_steps("library", changed_library), in_steps("sandbox", tools.sandbox)
    servers = in_steps("servers", other_servers)
    network = in_steps("network", granted_network)
    executor = Executor(
        durable_model, sandbox, library, tools.sources, servers=servers, network=network
    )
    synthesis = _synthesis(
        settings, model, tools.sandbox, changed_library, tools.sources, network=network
    )
    projects = ProjectAgent(make_builder(model), settings.data_dir / DELEGATED)
    free_tools = FreeTools(library, tools.sources.of)
    agents = (proxy(durable_model), coder(durable_model, tools=free_tools), projects)
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
        delegation=lambda toolsmith: Delegation(sandbox, (*agents, toolsmith), threads),
        news=news,
        wait=durable_wait,
        servers=servers,
        inspector=in_steps("inspector", FileProfiler(tools.sandbox)),
        month=spending.month,
    )
    return ModelParts(synthesis, executor, orchestrator)


def _synthesis(
    settings: Settings,
    model: LLMClient,
    sandbox: SecureSandbox,
    library: CapabilityRegistry,
    sources: PinnedSources,
    *,
    network: GrantedNetwork | None = None,
) -> SynthesisEngine:
    """Without a `network` it builds no tool that uses hosts."""
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
        network=network,
        expect_tests=sandbox.expect_tests,
    )


async def _tool_parts(
    settings: Settings,
    stack: AsyncExitStack,
    database: sa.Engine,
    minilm: MiniLM,
    model: LLMClient,
    *,
    spending: Spending,
) -> ToolParts:
    """The library, started, and what builds and verifies its tools; closed with the stack."""
    embedder = _closed_with(stack, chosen_embedder(settings, minilm, spending.count))
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
            stack, former_embedder(settings, minilm, embedder_id, spending.count)
        ),
        reserved=reserved_names,
        trust=TrustRule(settings.trust_after, settings.retire_after),
        on_change=changes.tell,
    )
    stack.push_async_callback(library.aclose)
    await library.start()
    sources = PinnedSources(library)
    chain = _synthesis(settings, model, sandbox, library, sources)  # it asks no model here
    upkeep = Reverification(library, chain.reexamine, sources, partial(_tell, changes))
    changes.subscribe(upkeep.follow)
    changes.subscribe(sources.follow)
    stack.push_async_callback(upkeep.aclose)
    return ToolParts(library, sources, changes, sandbox, upkeep)


def reserved_names() -> frozenset[str]:
    """Names of the functions that models and programs know in addition to the tools; no tool gets
    one.
    """
    of_agents = (kind.function for kind in FunctionArguments.__subclasses__())
    return frozenset({NO_TOOL_FITS.name, "pictures", *FIXED, *PROJECT_ACTIONS.names, *of_agents})


def back_up(settings: Settings, target: Path) -> int:
    """Write a backup, also while servers run; returns its bytes. Blocking.

    Raises: BackupError, ConfigurationError.
    """
    with _database(settings) as database:
        return write_backup(database, _stored(settings), target)


def restore(settings: Settings, source: Path, before: Path) -> dict[str, int]:
    """Write a backup of what is there to `before`, then replace it by what is in `source`. Returns
    the number of rows by table. Blocking.

    Raises: BackupError, also if another process uses the data; ConfigurationError.
    """
    with in_use(settings.data_dir, alone=True), _database(settings) as database:
        write_backup(database, _stored(settings), before)
        return restore_backup(source, database, _stored(settings))


@contextmanager
def rehearsal(settings: Settings, image: str = "") -> Iterator[Settings]:
    """Settings with a copy of database and tools, removed at the end, and a sandbox on this Python,
    or on the base `image` for Docker; what others use is neither changed nor replaced. Blocking.

    Raises: ConfigurationError: the database can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="selfeng-rehearsal-") as folder:
        database = attach(settings.database)
        try:
            copy_database(database, Path(folder, "agent.db"))
        except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the database of {settings.data_dir} can't be copied: {error}",
                "start this version once on a restored backup, and rehearse there",
            ) from error
        finally:
            database.dispose()
        tools = Path(folder, "tools")
        if settings.tools_dir.is_dir():
            shutil.copytree(settings.tools_dir, tools)
        changes: dict[str, object] = {"data_dir": Path(folder), "tools_dir": tools}
        changes |= {"database_url": "", "chroma_url": "", "chroma_persist_dir": tools / "index"}
        sandbox = SecureSandbox.from_settings(settings)
        if image or not sandbox.image_is_current():
            base = {"base_image": image, "sandbox": "docker"} if image else {}
            changes |= {"docker_image_name": f"{settings.docker_image_name}-rehearsal", **base}
        else:
            changes["parts_dir"] = settings.parts
        yield settings.model_copy(update=changes)


def count_spent(settings: Settings, usage: Usage) -> None:
    """Count what a command without an engine spent. Blocking. Raises: ConfigurationError."""
    with _database(settings) as database:
        Spending(database).count(LOCAL, usage)


def _stored(settings: Settings) -> dict[str, Path]:
    """Folders that can't be made again, by their names in a backup."""
    data = settings.data_dir
    folders = {name: data / name for name in (PROJECTS, DELEGATED, RANKING)}
    return {"tools": settings.tools_dir, **folders}


@asynccontextmanager
async def open_builder(options: ProjectOptions) -> AsyncIterator[ProjectBuilder]:
    """The project builder with all its parts, for a build with these options.

    Raises:
        AgentError: a part can't be opened; the message says which and what to do.
    """
    settings = _with(options, load_settings())
    async with AsyncExitStack() as stack:
        sandbox = _project_sandbox(settings, stack)
        await sandbox.reap()
        model = LLMClient.from_settings(settings)
        stack.push_async_callback(model.aclose)
        yield ProjectBuilder(model, sandbox, seconds=settings.docker_timeout)


def _project_sandbox(settings: Settings, stack: AsyncExitStack) -> SecureSandbox:
    """A sandbox with room for a whole project; closed with the stack."""
    sandbox = SecureSandbox.from_settings(settings, files=_PROJECTS)
    stack.push_async_callback(sandbox.aclose)
    return sandbox


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


@contextmanager
def _database(settings: Settings) -> Iterator[sa.Engine]:
    database = _open_database(settings)
    try:
        yield database
    finally:
        database.dispose()


def _tell(changes: Changes[LibraryChange], outcome: Reverified) -> None:
    """The library reports new versions itself."""
    if outcome.problem:
        changes.tell(LibraryChange(name=outcome.name, change="kept_back", reason=f"{outcome}."))
