"""The doors of a turn to the world, whose uses are steps of the turn's work."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import datetime
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar, cast
from uuid import uuid4

from selfeng.core.errors import AgentError, LibraryError
from selfeng.core.events import Waiting
from selfeng.core.files import File
from selfeng.core.http import NetworkAccess
from selfeng.core.lesson import AgentKind, LessonHint
from selfeng.core.pictures import Sight
from selfeng.core.prompt import AgentThread, ChatMessage, FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import ModelClient, ReplyT
from selfeng.core.provenance import Provenance
from selfeng.core.server_tool import ServerTool
from selfeng.core.status import Part
from selfeng.core.tool import Standing, Tool, ToolDraft
from selfeng.core.turn import Budget, News, Recall, awaited
from selfeng.core.verdict import (
    Execution,
    Raised,
    SandboxJob,
    TestResult,
    Verdict,
)
from selfeng.core.work import current_work
from selfeng.durable.outcomes import StepMeter, StepOutcome, done_once, name_of
from selfeng.store.threads import Threads

T = TypeVar("T")


class DurableModel:
    """A `ModelClient` whose replies are paid once."""

    def __init__(self, model: ModelClient) -> None:
        self._model = model

    async def stream(self, prompt: Prompt, budget: Budget) -> AsyncGenerator[str, None]:
        """A stream is one step, whose value is the list of its pieces."""
        if (work := current_work.get()) is None:
            async with aclosing(self._model.stream(prompt, budget)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        step = await work.step(name_of("model.stream", prompt))
        if isinstance(step.earlier_outcome, StepOutcome):
            for piece in step.earlier_outcome.value:
                yield piece
            await step.earlier_outcome.again(budget)
            return
        meter, sent_pieces = StepMeter(budget), list[str]()
        try:
            async with aclosing(self._model.stream(prompt, meter)) as pieces:
                async for piece in pieces:
                    sent_pieces.append(piece)
                    yield piece
        except AgentError as error:
            await step.record(meter.outcome(sent_pieces, error))
            raise
        except (GeneratorExit, asyncio.CancelledError):
            task = asyncio.current_task()
            cancelled = bool(task and task.cancelling())  # else it was enough for whoever asked
            if not (cancelled and work.stopped):
                await asyncio.shield(step.record(meter.outcome(sent_pieces, cancelled=cancelled)))
            raise
        await step.record(meter.outcome(sent_pieces))

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        return await done_once(
            name_of("model.structured", prompt, reply),
            lambda meter, _: self._model.structured(prompt, reply, meter),
            budget,
        )

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        return await done_once(
            name_of("model.choose", prompt, functions),
            lambda meter, _: self._model.choose(prompt, functions, meter),
            budget,
        )

    async def sight(self, budget: Budget) -> Sight:
        return await done_once(
            name_of("model.sight"), lambda meter, _: self._model.sight(meter), budget
        )


PartName = Literal["inspector", "library", "network", "sandbox", "servers"]
_KEYED = {"record_use", "record_failure", "record_change"}
"""Methods that take the key under which they have their effect once."""


class _Steps:
    """A part whose async methods are steps, named after the part, the method and its arguments."""

    def __init__(self, name: str, part: Any) -> None:
        self._name, self._part = name, part

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        use: Callable[..., Awaitable[Any]] = getattr(self._part, method)

        def step(*arguments: Any, **options: Any) -> Awaitable[Any]:
            def once(_: object, key: str) -> Awaitable[Any]:
                return use(*arguments, **options, **({"key": key} if method in _KEYED else {}))

            return done_once(name_of(f"{self._name}.{method}", arguments, options), once)

        return step


def in_steps(name: PartName, part: T) -> T:
    """A part of which a turn takes each use as a step."""
    return cast(T, _KINDS.get(name, _Steps)(name, part))


async def _called_once(
    door: str, key: tuple[Any, ...], call: Callable[[], Awaitable[Execution]], *, repeatable: bool
) -> Execution:
    """A call is not made again if it was begun by a process that died, so that it may have had its
    effect, unless it is `repeatable`; that it begins is a step of its own.
    """
    own_token = uuid4().hex

    async def begin(*_: object) -> str:
        return own_token

    began_before = await done_once(name_of(f"{door}.begin", *key), begin) != own_token

    async def once(*_: object) -> Execution:
        if began_before and not repeatable:
            lost = "the program ended during the call; its result is not known"
            return Raised(type_name="CallInterrupted", message=lost)
        return await call()

    return await done_once(name_of(f"{door}.call", *key), once)


class _DurableSandbox(_Steps):
    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        """The arguments of `on_test` are recorded with the step, and a replay calls it with them
        again.
        """
        live_results: list[TestResult] = []

        def tell(result: TestResult) -> None:
            live_results.append(result)
            on_test(result)

        async def run(*_: object) -> tuple[Verdict, list[TestResult]]:
            return await self._part.verify(job, tell), live_results

        verdict, results = await done_once(name_of("sandbox.verify", job), run)
        for result in results if results is not live_results else ():
            on_test(result)
        return verdict


class _DurableServers(_Steps):
    async def call(
        self,
        tool: ServerTool,
        arguments: Mapping[str, Any],
        on_progress: Callable[[float, float | None, str], None] = lambda progress, total, words: (
            None
        ),
    ) -> Execution:
        """A call is made again only if the server says that it changes nothing."""
        call = partial(self._part.call, tool, arguments, on_progress)
        key = tool.digest, dict(arguments)
        return await _called_once("servers", key, call, repeatable=tool.repeatable)


class _DurableNetwork(_Steps):
    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File],
        accesses: Sequence[NetworkAccess],
    ) -> Execution:
        """As a call of another server's tool; one that only reads is made again."""
        key = job, dict(arguments), files, accesses
        call = partial(self._part.execute, job, arguments, files, accesses)
        reads = all(access.reads for access in accesses)
        return await _called_once("network", key, call, repeatable=reads)


class _Seen(NamedTuple):
    """The fields of a tool that change, and the version, which does not."""

    name: str
    version: int
    standing: Standing
    uses: int
    created_at: datetime


class _DurableLibrary(_Steps):
    async def tools(self) -> tuple[Tool, ...]:
        """The step has which tools there were, and at which versions, which never change."""
        library_tools: tuple[Tool, ...] | None = None

        async def look(*_: object) -> tuple[_Seen, ...]:
            nonlocal library_tools
            library_tools = await self._part.tools()
            return tuple(
                _Seen(tool.name, tool.version, tool.standing, tool.uses, tool.created_at)
                for tool in library_tools
            )

        entries = await done_once(name_of("library.tools"), look)
        return (
            tuple([await self._at(entry) for entry in entries])
            if library_tools is None
            else library_tools
        )

    async def add(
        self,
        draft: ToolDraft,
        provenance: Provenance | None = None,
        requests: Sequence[str] = (),
    ) -> Tool:
        """A tool that a dead process added before it could record the step is the step's value."""
        add = partial(self._part.add, draft, provenance, requests)
        return await self._registered(name_of("library.add", draft), add, draft, 1)

    async def prepare(self, draft: ToolDraft, requests: Sequence[str] = ()) -> None:
        """Not a step, as it changes nothing, and may run concurrently with steps."""
        await self._part.prepare(draft, requests)

    async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        """As `add`."""
        revise = partial(self._part.revise, draft, based_on, provenance)
        name = name_of("library.revise", draft, based_on)
        return await self._registered(name, revise, draft, based_on + 1)

    async def _at(self, entry: "_Seen") -> Tool:
        version = await self._part.version(entry.name, entry.version)
        return Tool.model_validate(
            {**version.model_dump(include=set(Tool.model_fields)), **entry._asdict()}
        )

    async def _registered(
        self, name: str, register: Callable[[], Awaitable[Tool]], draft: ToolDraft, version: int
    ) -> Tool:
        """The outcome of the step, or the tool if exactly this is that version already."""

        async def once(*_: object) -> Tool:
            try:
                return await register()
            except LibraryError:
                with suppress(LibraryError):
                    tool: Tool = await self._part.get(draft.name)
                    if tool.version == version and tool.draft() == draft:
                        return tool
                raise

        return await done_once(name, once)


_KINDS: dict[PartName, type[_Steps]] = {
    "library": _DurableLibrary,
    "network": _DurableNetwork,
    "sandbox": _DurableSandbox,
    "servers": _DurableServers,
}


class DurableThreads:
    """Threads of agents, each exchange of which is stored once."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    async def open(self, conversation_id: str, sender: str, agent: str) -> AgentThread:
        thread_key = conversation_id, sender, agent
        return await done_once(
            name_of("threads.open", *thread_key),
            lambda *_: asyncio.to_thread(self._threads.open, *thread_key),
        )

    async def append(self, thread: AgentThread, exchange: tuple[ChatMessage, ...]) -> None:
        await done_once(
            name_of("threads.append", thread.id, exchange),
            lambda _, key: asyncio.to_thread(self._threads.append, thread, exchange, key),
        )


def durable_recall(recall: Recall) -> Recall:
    """Lessons as they were when the turn was first shown them."""

    async def recalled(agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
        return await done_once(
            name_of("lessons.recall", agent, about), lambda *_: recall(agent, about)
        )

    return recalled


async def durable_wait(
    news: News,
    part: Part,
    emit: Callable[[Waiting], object],
    enough: Callable[[], Awaitable[bool]] | None = None,
) -> bool:
    """Whether a turn had to wait for `enough` decides what it does next, so it is a step."""
    if enough is None:
        return await awaited(news, part, emit)
    return await done_once(name_of("news", part), lambda *_: awaited(news, part, emit, enough))
