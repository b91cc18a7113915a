"""AsyncAgent: the agent on the event loop of a program."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from selfeng.bootstrap import build_engine
from selfeng.core.errors import RequestError
from selfeng.core.events import Outcome, Record
from selfeng.core.files import File
from selfeng.core.owner import LOCAL
from selfeng.core.question import answers_of
from selfeng.core.schedule import Delivery, Missed, Schedule, SchedulePlan, Watch
from selfeng.core.settings import Settings, load_settings
from selfeng.core.status import Asked
from selfeng.core.tool import Candidate, Grant, Need, Tool
from selfeng.core.value import validated
from selfeng.core.verdict import Execution, Returned
from selfeng.doors.local_files import read_files
from selfeng.doors.turn_story import TurnStory
from selfeng.engine import Engine
from selfeng.provision.parts import provision
from selfeng.python.reply import Reply, RequestFailed, ToolFailed, reply_of
from selfeng.stages.library_health import STALE_DAYS, LibraryHealth
from selfeng.store.conversation_list import ConversationSummary

T = TypeVar("T")

log = logging.getLogger(__name__)

Given = File | str | PathLike[str]
"""A file, or the path of one."""


class AsyncAgent:
    """The agent on a folder of its own. It opens at its first use, on the event loop that runs
    then, and closes with `aclose` or at the end of `async with`.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        model: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **settings: Any,
    ) -> None:
        """`folder` gets the agent's `data`, `tools` and `chroma_db`; without one, the agent shares
        those of the app and of the command line. `model`, `api_key` and `base_url` are the settings
        OPENAI_MODEL, OPENAI_API_KEY and OPENAI_BASE_URL, and any other setting goes by its name in
        small letters. The others come from the environment and `.env`, as for the app.

        Raises: ConfigurationError: a setting is unknown, or has a value that is not allowed.
        """
        named_settings = {
            "openai_model": model,
            "openai_api_key": api_key,
            "openai_base_url": base_url,
        }
        given_settings = {
            name: value for name, value in named_settings.items() if value is not None
        } | settings
        self.settings = _settings(folder, given_settings)
        self._engine: Engine | None = None
        self._prepared = set[str]()
        self._opening, self._closed = asyncio.Lock(), False

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def open(self) -> None:
        """Open the agent now, rather than at its first use.

        Raises: AgentError: a part can't be opened; the message says which and what to do.
        """
        await self._opened()

    async def aclose(self) -> None:
        """Stop the turns that run, and release everything; any number of times."""
        async with self._opening:
            self._closed, engine, self._engine = True, self._engine, None
            if engine:
                await engine.aclose()

    async def ask(
        self,
        request: str = "",
        *,
        conversation: str = "",
        files: Iterable[Given] = (),
        answers: Mapping[str, object] | None = None,
        agent: str = "",
    ) -> Reply:
        """Run one turn to its end.

        `conversation` is continued, or begun: the id in an earlier reply, or any name of the
        program's own. `answers` are for the questions of an earlier reply, by their ids; the
        request may then be blank. `agent` gets the request directly, without a search.

        Raises:
            RequestFailed: the turn failed, or was stopped.
            RequestError: the request can't be used: blank, too long, files that are too large or
                can't be read, answers to no question.
        """
        return await self._run_turn(
            lambda engine: self._ask(engine, request, conversation, files, answers, agent)
        )

    async def stream(
        self,
        request: str = "",
        *,
        conversation: str = "",
        files: Iterable[Given] = (),
        answers: Mapping[str, object] | None = None,
        agent: str = "",
    ) -> AsyncGenerator[Record, None]:
        """Run one turn, as `ask`, and give its events as they come, each with its conversation and
        turn; the last one says how it ended. Leaving it stops the turn.

        Raises: RequestError: as `ask`.
        """
        engine = await self._ready("embedder", "sandbox")
        pending_turn = self._ask(engine, request, conversation, files, answers, agent)
        async with aclosing(engine.turn(LOCAL, pending_turn)) as records:
            async for record in records:
                yield record

    async def build(self, description: str) -> Tool:
        """Build the tool that is described, with tests, and keep it; nothing calls it. Returns the
        tool of the library that does this, if there is one.

        Raises:
            RequestFailed: it could not be built, is declined, or something has to be asked first;
                the reply says which.
            RequestError: the description is blank or too long.
        """
        reply = await self._run_turn(lambda engine: engine.build(LOCAL, description))
        if reply.outcome is not Outcome.ANSWERED or not reply.tool:
            raise RequestFailed(reply)
        return await self.tool(reply.tool)

    async def tools(self) -> tuple[Tool, ...]:
        """All tools of the library, by name. Each has its `signature`, whose `input_schema()` is
        JSON Schema.
        """
        return await (await self._opened()).library.tools()

    async def tool(self, name: str) -> Tool:
        """Raises: ToolNotFound, ToolModified."""
        return await (await self._opened()).library.get(name)

    async def search(self, request: str, limit: int = 5) -> tuple[Candidate, ...]:
        """The tools that fit a request best, with their confidence, the best first."""
        engine = await self._ready("embedder")
        return tuple(await engine.library.search(request, limit))

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        files: Iterable[Given] = (),
    ) -> Any: ...

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: type[T],
        files: Iterable[Given] = (),
    ) -> T: ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Any = None,
        files: Iterable[Given] = (),
    ) -> Any:
        """Call a tool by name, without the model, and give what it returns.

        Arguments are plain JSON data, or what has a form in it: dates as ISO 8601, sets and tuples
        as lists, data classes and Pydantic models as objects. The value is plain JSON data, or an
        object of the type `returns`, as Pydantic reads it.

        Raises:
            ToolFailed: the tool raised, or the sandbox ended it.
            ToolNotFound, ToolModified, SandboxError
            RequestError: the arguments don't fit its signature, the files can't be used, or the
                value is not of the type `returns`, or too large.
        """
        execution = await self.execute(name, arguments, files=files)
        if not isinstance(execution, Returned):
            raise ToolFailed(name, execution)
        if (result := execution.result) is None:
            raise RequestError(
                f"{name} returned a {execution.type_name} that is not kept: {execution.text[:80]}",
                "`execute` gives it as text",
            )
        return _read(name, result.content, returns)

    async def execute(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        files: Iterable[Given] = (),
    ) -> Execution:
        """Call a tool as `call` does, and return everything: value, output, files, time. Its
        exception is a value, too.

        Raises: as `call`, but not ToolFailed.
        """
        engine = await self._ready("sandbox")
        return await engine.call(LOCAL, name, _plain(name, arguments), await self._files(files))

    async def run_program(
        self,
        code: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        files: Iterable[Given] = (),
    ) -> Execution:
        """Run a program, without the model, in one call of the sandbox: Python source that defines
        `def program(...)` and imports tools as `from NAME import NAME`. Returns its outcome, as
        `execute` does.

        Raises:
            NotConsented: a tool needs what nobody has allowed it.
            SandboxError
            RequestError: the code is no such program, the arguments don't fit it, or the files
                can't be used.
        """
        engine = await self._ready("sandbox")
        program = await engine.program(code)
        plain_arguments = _plain("the program", arguments)
        return await engine.call(LOCAL, program, plain_arguments, await self._files(files))

    async def health(self, days: int = STALE_DAYS) -> LibraryHealth:
        """The findings about the library: tools that do the same, weak tests, and tools that are
        slow, suspect, or unused for so many days. Nothing changes. Raises: SandboxError.
        """
        return await (await self._ready("sandbox")).health.report(LOCAL, days)

    async def merge(self, into: str, name: str) -> Tool:
        """Merge a tool into another, see `ToolReview.merge`, and return that one's new version.

        Raises: ToolNotFound, ToolModified, LibraryError, SandboxError
            RequestError, SynthesisFailed: they do not do the same.
        """
        engine = await self._ready("embedder", "sandbox")
        return await engine.review.merge(LOCAL, into, name)

    async def unmerge(self, name: str) -> Tool:
        """Offer a tool again that was merged into another. Raises: ToolNotFound, RequestError."""
        return await (await self._ready("embedder")).review.unmerge(name)

    async def grants(self, tool: str = "") -> tuple[Grant, ...]:
        """The hosts, packages and limits that tools may have: those of a tool, or all."""
        return await (await self._opened()).network.grants(tool)

    async def allow(self, tool: str, need: str = "") -> tuple[Need, ...]:
        """Allow a tool what it needs, also in later versions that need the same: a host, a package
        or `limits`, or all; returns it.

        Raises:
            ToolNotFound, ToolModified
            ResourceNotFound: it does not need that.
        """
        engine = await self._opened()
        return await engine.network.allow(LOCAL, await engine.library.get(tool), need)

    async def revoke(self, tool: str, need: str = "") -> int:
        """Ask again before a tool has something, or anything, that it needs; returns how many
        grants there were.
        """
        return await (await self._opened()).network.revoke(tool, need)

    async def schedule(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        cron: str = "",
        hook: str = "",
        watch: Watch | None = None,
        deliver: Delivery | None = None,
        timezone: str = "UTC",
        name: str = "",
        version: int = 0,
        missed: Missed = "once",
        seconds: int = 600,
        files: Iterable[Given] = (),
    ) -> Schedule:
        """Have a tool called at set times, without the model, as long as `selfeng serve` or a
        worker runs on the same data; the other arguments are as for `SchedulePlan`.

        Raises:
            ToolNotFound, ToolModified, VersionNotFound
            RequestError: the arguments don't fit the tool, a field is wrong, or the name is taken.
        """
        fields = {
            **{"tool": tool, "arguments": arguments or {}, "cron": cron, "timezone": timezone},
            **{"name": name, "version": version, "missed": missed, "seconds": seconds},
            **{"hook": hook, "watch": watch, "deliver": deliver},
        }
        plan = validated(SchedulePlan, fields, "the schedule")
        engine = await self._opened()
        return await engine.schedule(LOCAL, plan, await self._files(files))

    async def schedules(self) -> tuple[Schedule, ...]:
        """The schedules by name, each with its last run."""
        return await (await self._opened()).schedules.list(LOCAL)

    async def run_schedule(self, name: str) -> Schedule:
        """Run a schedule once, now; it then has this run as the last one.

        Raises: ResourceNotFound, ResourceBusy, LimitReached.
        """
        engine = await self._ready("sandbox")
        async with aclosing(engine.turn(LOCAL, engine.schedules.start(LOCAL, name))) as records:
            async for _ in records:
                pass
        return await engine.schedules.settled(LOCAL, name)

    async def pause_schedule(self, name: str) -> Schedule:
        """Begin no more runs. Raises: ResourceNotFound."""
        return await (await self._opened()).schedules.pause(LOCAL, name)

    async def resume_schedule(self, name: str) -> Schedule:
        """Begin runs again, from the next time on. Raises: ResourceNotFound."""
        return await (await self._opened()).schedules.resume(LOCAL, name)

    async def remove_schedule(self, name: str) -> None:
        """Its conversation stays. Raises: ResourceNotFound."""
        await (await self._opened()).schedules.remove(LOCAL, name)

    async def conversations(self, words: str = "") -> tuple[ConversationSummary, ...]:
        """The conversations, that with the newest turn first; with words those that have them."""
        return await (await self._opened()).conversations.list(LOCAL, words)

    async def history(self, conversation: str) -> tuple[Record, ...]:
        """Everything that happened in a conversation. Raises: ResourceNotFound: there is none of
        that id.
        """
        return await (await self._opened()).conversations.history(LOCAL, conversation)

    async def delete_data(self) -> None:
        """Stop the turns of this machine's programs and commands, and delete what is stored of
        them; see `Engine.delete_data`.
        """
        await (await self._opened()).delete_data(LOCAL)

    async def _ask(  # noqa: PLR0917 - those of `ask`
        self,
        engine: Engine,
        request: str,
        conversation: str,
        files: Iterable[Given],
        answers: Mapping[str, object] | None,
        agent: str,
    ) -> Asked:
        read = await self._files(files)
        conversation_id = (
            await engine.conversations.named(LOCAL, conversation) if conversation else None
        )
        answer_values = answers_of(answers or {})
        return await engine.ask(
            LOCAL, conversation_id, request, read, answers=answer_values, agent=agent
        )

    async def _run_turn(self, begin: Callable[[Engine], Awaitable[Asked]]) -> Reply:
        """The reply of a turn. Raises: RequestFailed."""
        engine, story = await self._ready("embedder", "sandbox"), TurnStory()
        async with aclosing(engine.turn(LOCAL, begin(engine))) as records:
            async for record in records:
                story.add(record)
        reply = reply_of(story, await story.read_files(engine, LOCAL))
        if reply.outcome in (Outcome.FAILED, Outcome.STOPPED):
            raise RequestFailed(reply)
        return reply

    async def _opened(self) -> Engine:
        async with self._opening:
            if self._closed:
                raise RequestError("this agent is closed", "open another one")
            if self._engine is None:
                self._engine = await build_engine(self.settings)
                await self._engine.sandbox.reap()
            return self._engine

    async def _ready(self, *parts: str) -> Engine:
        """The engine, after these parts were set up; a failure here is reported by the call that
        needs the part.
        """
        engine = await self._opened()
        async with self._opening:
            for part in parts:
                if part not in self._prepared:
                    await asyncio.to_thread(provision, self.settings, log.info, (part,))
                    self._prepared.add(part)
                    if part == "sandbox":
                        await engine.setup.get_ready(to_build=False)
        return engine

    async def _files(self, sources: Iterable[Given]) -> tuple[File, ...]:
        """Raises: RequestError: one can't be read, or is too large."""
        files, limits = list(sources), self.settings.file_limits
        large_files = self.settings.large_files
        paths = [Path(file) for file in files if not isinstance(file, File)]
        read = await asyncio.to_thread(read_files, paths, limits, large_files) if paths else []
        return (*(file for file in files if isinstance(file, File)), *read)


def _settings(folder: str | PathLike[str] | None, given: Mapping[str, Any]) -> Settings:
    """Raises: ConfigurationError."""
    if folder is None:
        return load_settings(given=given)
    home = Path(folder).expanduser().absolute()
    app = load_settings(given={name: v for name, v in given.items() if name == "parts_dir"})
    folder_settings = {
        "data_dir": home / "data",
        "tools_dir": home / "tools",
        "chroma_persist_dir": home / "chroma_db",
        "chroma_url": None,
        "database_url": "",
        "parts_dir": app.parts,
    }
    return load_settings(given=folder_settings | dict(given))


def _plain(name: str, arguments: Mapping[str, Any] | None) -> Any:
    """Raises: RequestError: the arguments have no form in JSON."""
    try:
        return to_jsonable_python(dict(arguments or {}))
    except PydanticSerializationError as error:
        raise RequestError(
            f"the arguments for {name} have no form in JSON: {error}", "give plain data"
        ) from error


def _read(name: str, content: str, returns: Any) -> Any:
    """Raises: RequestError: the value is not of this type."""
    if returns is None:
        return json.loads(content)
    try:
        return TypeAdapter(returns).validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RequestError(
            f"{name} returned {content[:80]}, which is no {getattr(returns, '__name__', returns)}: "
            f"{first['msg']}",
            "correct `returns`",
        ) from error
