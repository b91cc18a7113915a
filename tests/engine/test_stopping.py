"""A turn is stopped at any moment: while the model hangs or streams, while a tool or a project runs
or hangs in the sandbox, while the database is slow. And a slow client delays no other.

A hanging part hangs for longer than a test may take.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import pytest

from selfeng.core.events import Event, TurnFinished, TurnStopped
from selfeng.core.settings import Settings
from selfeng.core.signature import parse_signature
from selfeng.core.status import Asked
from selfeng.core.tool import ToolDraft
from selfeng.projects.actions import CreateFile, ExecutePyFile
from selfeng_offline.server import OfflineServer
from tests.engine.watched import EndlessModel, HangingModel, Watched, watched
from tests.home import Home

pytestmark = pytest.mark.bubblewrap

SOON = 5.0
"""Seconds; a second is the aim, but a machine that runs tests is busy."""
HANGS = "def hang() -> int:\n    while True:\n        pass\n"
SLEEPS = "import time\n\n\ndef sleep() -> int:\n    time.sleep(1000)\n    return 1\n"
ADDS = "def add(a: int, b: int) -> int:\n    return a + b\n"


class Stage:
    """An engine on a model's server, with tools that hang."""

    def __init__(
        self, folder: Path, watched: Watched, model: OfflineServer, author: HangingModel
    ) -> None:
        self.folder, self.watched = folder, watched
        self._model, self._author = model, author

    async def stops(self, asked: Asked, *, when: Callable[[Event], bool]) -> list[Event]:
        """Stop a turn as soon as such an event is there; all of its events."""
        await self.watched.until(asked.turn_id, when)
        async with asyncio.timeout(SOON):
            assert await self.watched.engine.stop("me", asked.turn_id)
            events = await self.watched.ended(asked.turn_id)
        assert isinstance(events[-1], TurnStopped)
        return events

    async def model_is_asked(self) -> None:
        assert await asyncio.to_thread(self._author.asked.wait, 60)

    async def model_is_left(self) -> None:
        """The call of the model has ended."""
        assert await asyncio.to_thread(self._model.left.wait, SOON)

    async def ask(self) -> Asked:
        return await self.watched.engine.ask("me", None, "Sail to Rome", agent="proxy")

    async def run(self, tool: str, **arguments: object) -> Asked:
        return await self.watched.engine.run("me", None, tool, arguments)


@asynccontextmanager
async def staged(folder: Path, author: HangingModel, **more: str) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        model = stack.enter_context(OfflineServer(author, delay=0.01))
        environment = Home(folder / "home", bubblewrap=True).environment(
            OPENAI_BASE_URL=model.base_url,
            OPENAI_API_KEY=model.api_key,
            OPENAI_MODEL=model.model,
            **more,
        )
        names = {name.lower() for name in environment}
        known = {name: environment[name.upper()] for name in Settings.model_fields.keys() & names}
        engine = await stack.enter_async_context(watched(Settings(_env_file=None, **known)))
        for code in (HANGS, SLEEPS, ADDS):
            name = code.partition("def ")[2].partition("(")[0]
            signature = parse_signature(code, name)
            draft = ToolDraft(name=name, description=name, signature=signature, code=code, tests="")
            await engine.engine.library.add(draft)
        yield Stage(folder / "home", engine, model, author)


@pytest.fixture
async def hanging(tmp_path: Path) -> AsyncIterator[Stage]:
    async with staged(tmp_path, HangingModel()) as stage:
        yield stage


def is_a(*types: str) -> Callable[[Event], bool]:
    return lambda event: event.type in types


@pytest.mark.parametrize("author", [HangingModel(), EndlessModel()], ids=["hangs", "streams"])
async def test_a_turn_is_stopped_while_the_model(author: HangingModel, tmp_path: Path) -> None:
    async with staged(tmp_path, author) as stage:
        asked = await stage.ask()
        await stage.model_is_asked()
        await stage.stops(asked, when=is_a("delegation"))
        await stage.model_is_left()


@pytest.mark.parametrize("tool", ["hang", "sleep"])
async def test_a_turn_is_stopped_while_its_tool_starts_and_while_it_runs(
    tool: str, hanging: Stage
) -> None:
    for _ in range(2):  # the first has to start its container
        await hanging.stops(await hanging.run(tool), when=is_a("executing"))
    asked = await hanging.run("add", a=1, b=2)
    assert isinstance((await hanging.watched.ended(asked.turn_id))[-1], TurnFinished)


async def test_a_turn_is_stopped_while_the_database_is_slow(hanging: Stage) -> None:
    asked = await hanging.ask()
    await hanging.model_is_asked()
    path = hanging.folder / "data" / "agent.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        async with asyncio.timeout(SOON):
            assert await hanging.watched.engine.stop("me", asked.turn_id)
            await hanging.model_is_left()
        other.execute("ROLLBACK")
    assert isinstance((await hanging.watched.ended(asked.turn_id))[-1], TurnStopped)


async def test_a_build_is_stopped_while_the_model_hangs(hanging: Stage) -> None:
    projects = hanging.watched.engine.projects
    asked = await projects.begin("me", {"project_name": "p", "goal": "A program"})
    await hanging.model_is_asked()
    await hanging.stops(asked, when=is_a("project_reasoned"))
    await hanging.model_is_left()


async def test_a_projects_program_is_stopped_while_it_hangs(hanging: Stage) -> None:
    projects = hanging.watched.engine.projects
    asked = await projects.begin("me", {"project_name": "p", "goal": "A program"})
    await hanging.stops(asked, when=is_a("project_reasoned"))
    made = await projects.act(
        "me", asked.conversation_id, CreateFile(name="main.py", body="while True: pass")
    )
    await hanging.watched.ended(made.turn_id)
    run = await projects.act("me", asked.conversation_id, ExecutePyFile(name="main.py"))
    await hanging.stops(run, when=is_a("turn_started"))


@pytest.mark.parametrize("trouble", ["model", "tool", "program that waits"])
async def test_what_hangs_delays_nobody_else(trouble: str, hanging: Stage) -> None:
    held = {
        "model": hanging.ask,
        "tool": lambda: hanging.run("hang"),
        "program that waits": lambda: hanging.run("sleep"),
    }[trouble]
    first = await held()
    await hanging.watched.until(first.turn_id, is_a("delegation", "executing"))
    for owner in ("me", "you"):
        asked = await hanging.watched.engine.run(owner, None, "add", {"a": 1, "b": 2})
        last = (await hanging.watched.ended(asked.turn_id))[-1]
        assert isinstance(last, TurnFinished)
        assert "3" in last.answer
    assert not hanging.watched.has_ended(first.turn_id)
    await hanging.watched.engine.stop("me", first.turn_id)
    assert isinstance((await hanging.watched.ended(first.turn_id))[-1], TurnStopped)
