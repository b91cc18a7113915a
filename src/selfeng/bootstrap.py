"""The composition root: the one place where concrete classes meet."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

# Chroma's thread imports httpx while the openai SDK inspects it, possibly half imported; so it is
# imported fully first.
import httpx  # noqa: F401
import sqlalchemy as sa
from anyio.from_thread import start_blocking_portal

from selfeng.agents import Delegation, coder, proxy
from selfeng.capability_registry import CapabilityRegistry, LibraryChange, TrustRule
from selfeng.composition.linked_sandbox import LinkedSandbox
from selfeng.composition.reverification import Reverification, Reverified, Reverifier
from selfeng.composition.sources import PinnedSources
from selfeng.core.errors import ConfigurationError, DatabaseUnavailable
from selfeng.core.events import Limits
from selfeng.core.files import MB, FileLimits
from selfeng.core.status import ModelStatus
from selfeng.doors.program import Program
from selfeng.embedding.embedder_choice import chosen_embedder, former_embedder
from selfeng.embedding.minilm import MiniLM
from selfeng.embedding.preparation import prepare_embedder
from selfeng.engine import Changes, Engine, ToolParts, TurnParts
from selfeng.execution.file_profiler import FileProfiler
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learner import Learner, Turns
from selfeng.lessons.learning import Learning
from selfeng.llm.pricing import free
from selfeng.llm_client import LLMClient, plain_speaking
from selfeng.offline.cookbook import Cookbook
from selfeng.offline.server import OfflineServer
from selfeng.orchestrator import Orchestrator
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_agent import ProjectAgent
from selfeng.projects.service import ProjectService
from selfeng.provision.parts import make_image
from selfeng.provision.readiness import Readiness
from selfeng.registry.parameters import FOLDER as RANKING
from selfeng.registry.ranking import Ranking
from selfeng.registry.seeding import SeedMark
from selfeng.runtime import MiniAgents
from selfeng.sandbox import SecureSandbox
from selfeng.settings import Settings, load_settings, make_folders
from selfeng.stages.decision import Thresholds
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import id_of, open_database
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder
from selfeng.store.threads import Threads
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from selfeng.turns.turn_registry import TurnRegistry

if TYPE_CHECKING:
    from selfeng.embedding.openai_embedder import OpenAIEmbedder

EmbedderT = TypeVar("EmbedderT", bound="MiniLM | OpenAIEmbedder | None")

OFFLINE_MODEL = "offline"
_PROJECTS = FileLimits(count=1, size=10 * MB)
"""The input and output of a project run, which are one archive."""
PROJECTS = "projects"
"""Folder in DATA_DIR for projects that are built on the page."""
DELEGATED = "delegated"
"""Folder in DATA_DIR for projects that agents build."""
SEEDED = ".seeded"
"""File in the tools folder that records that the seeds were added, see `SeedMark`."""


async def build_engine(settings: Settings) -> Engine:
    """The engine with all its parts; close it with `aclose`.

    Raises:
        AgentError: a part can't be opened; the message says which and what to do.
    """
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(make_folders, settings)
        database = await asyncio.to_thread(_open_database, settings)
        stack.callback(database.dispose)
        minilm = MiniLM.below(settings.data_dir)
        model, model_status = _model(settings, stack)
        stack.push_async_callback(model.aclose)
        tools = await _tool_parts(settings, stack, database, minilm, model)
        learning = _learning(settings, database, minilm, model)
        stack.push_async_callback(learning.aclose)
        runtime = await stack.enter_async_context(MiniAgents())
        delegation = Delegation(tools.sandbox, (proxy(model), coder(model)), Threads(database))
        readiness = Readiness()
        orchestrator = Orchestrator(
            tools.library,
            tools.executor,
            tools.synthesis,
            ResponseSynthesizer(model),
            thresholds=_thresholds(settings),
            limits=_limits(settings),
            runtime=runtime,
            recall=learning.recall,
            delegation=delegation,
            news=readiness.news,
            inspector=FileProfiler(tools.sandbox),
        )
        turns = _turn_parts(settings, database, orchestrator, runtime)
        builder = ProjectBuilder(
            model,
            _project_sandbox(settings, stack),
            seconds=settings.docker_timeout,
            packages=_Layers(settings, await stack.enter_async_context(AsyncExitStack())),
        )
        delegation.add(ProjectAgent(builder, settings.data_dir / DELEGATED))
        folder, news = settings.data_dir / PROJECTS, readiness.news
        return Engine(
            model=model,
            model_status=model_status,
            tool_parts=tools,
            turn_parts=turns,
            learning=learning,
            projects=ProjectService(
                folder, builder, turns.journal, turns.turns, runtime, news=news
            ),
            readiness=readiness,
            set_ups={
                "search": partial(prepare_embedder, settings.data_dir),
                "sandbox": partial(make_image, tools.sandbox),
            },
            resources=stack.pop_all(),
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
        settings.chroma_persist_dir,
        embedder,
        ranking=Ranking.for_embedder(embedder.id, settings.data_dir / RANKING),
        former=lambda embedder_id: _closed_with(
            stack, former_embedder(settings, minilm, embedder_id)
        ),
        trust=TrustRule(settings.trust_after, settings.retire_after),
        on_change=changes.tell,
    )
    stack.push_async_callback(library.aclose)
    await library.start()
    sources = PinnedSources(library)
    policy = SynthesisPolicy(
        max_repairs=settings.synthesis_max_repairs,
        candidates=settings.synthesis_candidates,
        mutation_score=settings.synthesis_mutation_score,
    )
    linked = LinkedSandbox(sandbox, library, sources)
    synthesis = SynthesisEngine(model, linked, library, model.model, policy)
    upkeep = _upkeep(
        changes, Reverification(library, synthesis.reexamine, sources, partial(_tell, changes))
    )
    stack.push_async_callback(upkeep.aclose)
    seeded = SeedMark(settings.tools_dir / SEEDED, await asyncio.to_thread(id_of, database))
    executor = Executor(model, sandbox, library, sources)
    return ToolParts(library, sources, changes, seeded, sandbox, synthesis, executor, upkeep)


def _turn_parts(
    settings: Settings, database: sa.Engine, orchestrator: Orchestrator, runtime: MiniAgents
) -> TurnParts:
    journal = Journal(database)
    recorder = Recorder(journal)
    return TurnParts(
        orchestrator=orchestrator,
        turns=TurnRegistry(recorder, runtime.start),
        runtime=runtime,
        journal=journal,
        recorder=recorder,
        files=ConversationFiles(database),
        file_limits=settings.file_limits,
    )


@contextmanager
def open_orchestrator(settings: Settings | None = None) -> Iterator[Program]:
    """The engine for a synchronous program, on a thread of its own; closed at the end.

    Raises: AgentError, as `build_engine`; without `settings` also ConfigurationError.
    """
    with start_blocking_portal() as portal:
        engine = portal.call(build_engine, settings or load_settings())
        program = Program(engine, portal)
        try:
            portal.call(engine.sandbox.reap)
            yield program
        finally:
            program.close()
            portal.call(engine.aclose)


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
        model, _ = _model(settings, stack)
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
        return open_database(settings.database, settings.data_dir / PROJECTS)
    except DatabaseUnavailable as error:
        variable = "DATABASE_URL" if settings.database_url else "DATA_DIR"
        raise ConfigurationError(f"{variable}: {error.message}", error.remedy) from error


def _model(settings: Settings, stack: AsyncExitStack) -> tuple[LLMClient, ModelStatus]:
    client = partial(
        LLMClient, timeout=settings.openai_timeout, max_retries=settings.openai_max_retries
    )
    if settings.offline:
        server = stack.enter_context(OfflineServer(Cookbook(), model=OFFLINE_MODEL))
        detail = (
            "Built-in offline model: it knows a cookbook of small tools. OPENAI_API_KEY or "
            "OPENAI_BASE_URL gives a full one."
        )
        status = ModelStatus(name=OFFLINE_MODEL, offline=True, detail=detail)
        return client(
            model=OFFLINE_MODEL,
            api_key=server.api_key,
            base_url=server.base_url,
            price=free,
            connect=plain_speaking,
        ), status
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    full = client(model=settings.openai_model, api_key=key, base_url=settings.openai_base_url)
    return full, ModelStatus(
        name=full.model, offline=False, detail=f"{full.model} at {full.server}"
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
        learner, book, turns, shown=settings.lessons_shown, expire_days=settings.lessons_expire_days
    )


def _thresholds(settings: Settings) -> Thresholds:
    threshold = settings.similarity_threshold
    floor = min(settings.search_floor, threshold)
    return Thresholds(threshold=threshold, floor=floor, translates=not settings.offline)


def _limits(settings: Settings) -> Limits:
    return Limits(
        calls=settings.turn_max_calls,
        tokens=settings.turn_max_tokens,
        seconds=settings.turn_max_seconds,
        cost=settings.turn_max_cost,
    )
