"""Faults around a turn, on real parts: the turn ends with an event that has the remedy, or
continues when the fault is over; no reported event is lost; and the next turn works.

Killed processes and clocks that are set back are in `test_kills.py`, Docker engines that end in
`tests/sandbox/test_engine_death.py`.
"""

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
)
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.bootstrap import build_engine
from selfeng.core.errors import DatabaseUnavailable
from selfeng.core.events import FINAL, Event, StageEntered, TurnFailed, TurnFinished
from selfeng.core.settings import Settings
from selfeng_offline.completion import Completion, CompletionRequest, Flawed
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.databases import Postgres
from tests.engine.watched import Watched
from tests.home import Home

pytestmark = [pytest.mark.bubblewrap]

BUILD = "Reverse the string 'hello world'"
AGAIN = "Reverse the string 'abc'"


class Author:
    """The cookbook, which says something else where a test wants it to."""

    def __init__(self) -> None:
        self._cookbook = Cookbook()
        self.instead: dict[str, Completion] = {}
        """By the name of the prompt."""
        self.asked: list[str] = []
        """The names of the prompts."""

    def complete(self, request: CompletionRequest) -> Completion:
        self.asked.append(request.prompt)
        return self.instead.get(request.prompt) or self._cookbook.complete(request)


class Life:
    """An engine with its model server, in a home of its own."""

    def __init__(self, home: Home, model: OfflineServer, author: Author, watched: Watched) -> None:
        self.home, self.model, self.author, self._watched = home, model, author, watched
        self.engine = watched.engine
        self._asked: list[str] = []

    async def begin(self, request: str = BUILD, *, again: str = "") -> str:
        """The id of a turn in a new conversation, or `again` in the last conversation."""
        conversation = self._asked.pop() if again else None
        asked = await self.engine.ask("me", conversation, request, again=again)
        self._asked.append(asked.conversation_id)
        return asked.turn_id

    async def reaches(self, turn_id: str, stage: str) -> None:
        await self._watched.until(
            turn_id, lambda event: isinstance(event, StageEntered) and event.node == stage
        )

    async def ends(self, turn_id: str) -> Event:
        return (await self._watched.ended(turn_id))[-1]

    async def fails(self, turn_id: str) -> TurnFailed:
        last = await self.ends(turn_id)
        assert isinstance(last, TurnFailed), last
        assert last.remedy
        return last

    async def works(self, request: str = BUILD) -> None:
        """The next turn does what it should, and nothing is missing of those before."""
        last = await self.ends(await self.begin(request))
        assert isinstance(last, TurnFinished), last
        assert last.tool == "reverse_string"
        await self.engine.settle()
        for conversation in self._asked:
            history = await self.engine.conversations.history("me", conversation)
            ends = Counter(record.turn_id for record in history if isinstance(record.event, FINAL))
            assert set(ends.values()) == {1}
            told = [record for record in self._watched.of(conversation) if record.seq]
            assert [record.seq for record in history] == list(range(1, len(history) + 1))
            assert [(r.seq, r.event.type) for r in told] == [(r.seq, r.event.type) for r in history]


Living = Callable[..., AbstractAsyncContextManager[Life]]


@pytest.fixture
def living(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Living:
    """Begins a life with these settings."""

    @asynccontextmanager
    async def begin(**more: str) -> AsyncIterator[Life]:
        author, home = Author(), Home(tmp_path / "home", bubblewrap=True)
        with OfflineServer(author, delay=0) as model:
            server = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": model.api_key}
            own = {"OPENAI_MODEL": "offline", "OPENAI_MAX_RETRIES": "0"}
            for name, value in home.environment(**server, **own, **more).items():
                monkeypatch.setenv(name, value)
            settings = Settings(_env_file=None)
            async with aclosing(await build_engine(settings, durable=True)) as engine:
                yield Life(home, model, author, Watched(engine))

    return begin


@pytest.fixture
async def life(living: Living) -> AsyncIterator[Life]:
    async with living() as life:
        yield life


CUT = "```python\ndef reverse_string(text"
HANGING = Flawed(content=CUT, stop_after=4, then="hang")
MORE = pytest.mark.everywhere


@pytest.mark.parametrize(
    ("prompt", "said", "cause", "message", "remedy"),
    [
        pytest.param(
            "specification",
            Flawed(content="<html>It works!</html>", served_as="text/html"),
            "no_model_server",
            "does not answer like an OpenAI-compatible server",
            "OPENAI_BASE_URL",
            id="garbage",
        ),
        pytest.param(
            "implementation",
            Flawed(content=CUT, stop_after=4),
            "interrupted",
            "broke off: ",
            "try again",
            id="truncated",
            marks=pytest.mark.extended,
        ),
        pytest.param(
            "implementation",
            Flawed(content=CUT, stop_after=4, then="error"),
            "interrupted",
            "broke off its reply: The engine is overloaded.",
            "try again",
            id="error",
            marks=MORE,
        ),
    ],
)
async def test_a_model_server_that_answers_badly_ends_its_turn_only(
    life: Life, prompt: str, said: Flawed, *, cause: str, message: str, remedy: str
) -> None:
    life.author.instead[prompt] = said
    last = await life.fails(await life.begin())
    assert (last.kind, last.cause) == ("model", cause)
    assert message in last.message
    assert remedy in last.remedy
    life.author.instead.clear()
    await life.works()


async def test_a_turn_that_is_tried_again_pays_for_no_reply_twice(life: Life) -> None:
    life.author.instead["implementation"] = Flawed(content=CUT, stop_after=4)
    failed = await life.begin()
    await life.fails(failed)
    await life.engine.settle()
    paid = set(life.author.asked) - {"implementation"}
    assert paid >= {"specification", "tests"}
    life.author.instead.clear()
    life.author.asked.clear()
    last = await life.ends(await life.begin(again=failed))
    assert isinstance(last, TurnFinished), last
    assert last.tool == "reverse_string"
    assert not paid & set(life.author.asked)
    assert last.usage.calls == len(life.author.asked)


@pytest.mark.extended
async def test_a_model_server_that_hangs_is_not_waited_for_longer_than_the_settings_say(
    life: Life,
) -> None:
    life.author.instead["specification"] = HANGING
    await life.engine.configuration.change({"openai_timeout": 1})
    last = await life.fails(await life.begin())
    assert (last.kind, last.cause) == ("model", "slow")
    assert last.message == f"{life.model.base_url} did not continue within 1 seconds"
    assert "OPENAI_TIMEOUT" in last.remedy
    life.author.instead.clear()
    await life.engine.configuration.change({"openai_timeout": 60})
    await life.works()


async def test_a_model_server_that_is_gone_is_named_until_it_is_back(life: Life) -> None:
    life.author.instead["implementation"] = HANGING
    turn_id = await life.begin()
    await life.reaches(turn_id, "implement")
    await asyncio.to_thread(life.model.stop)
    last = await life.fails(turn_id)
    assert (last.kind, last.cause) == ("model", "unreachable")
    last = await life.fails(await life.begin())
    assert last.message.startswith(f"{life.model.base_url} can't be reached")
    assert "check that the server runs" in last.remedy
    life.author.instead.clear()
    life.model.start()
    await life.works()


@pytest.fixture
def patience() -> Iterator[Callable[[int], None]]:
    """Sets the milliseconds that SQLite waits for a lock."""
    milliseconds = 10_000

    def wait(connection: Any, *_: object) -> None:
        connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def use(number: int) -> None:
        nonlocal milliseconds
        milliseconds = number

    sa.event.listen(sa.pool.Pool, "checkout", wait)
    yield use
    sa.event.remove(sa.pool.Pool, "checkout", wait)


async def test_a_database_that_is_locked_is_named_until_it_is_free(
    life: Life, patience: Callable[[int], None]
) -> None:
    turn_id = await life.begin()
    await life.reaches(turn_id, "implement")
    patience(50)
    with closing(sqlite3.connect(life.home.folder / "data" / "agent.db")) as other:
        other.isolation_level = None
        other.execute("BEGIN IMMEDIATE")
        last = await life.fails(turn_id)
        with pytest.raises(DatabaseUnavailable, match=r"agent\.db is locked"):
            await life.begin()
    assert last.message == "the database agent.db is locked: database is locked"
    assert last.remedy == "end the program that holds it, then ask again"
    patience(10_000)
    await life.works()


@pytest.fixture
def server() -> Iterator[Postgres]:
    """A PostgreSQL that a test may treat badly."""
    server = Postgres()
    yield server
    server.remove()


@pytest.mark.postgres
@pytest.mark.parametrize(
    "away", [Postgres.stopped, pytest.param(Postgres.frozen, marks=pytest.mark.extended)]
)
async def test_a_turn_goes_on_when_its_database_is_back_or_names_it(
    server: Postgres, living: Living, away: Callable[[Postgres], AbstractContextManager[None]]
) -> None:
    """It waits with a step that must be kept, and ends if it needs something else meanwhile. A
    person who begins a turn or reads gets an error within seconds.
    """
    async with living(DATABASE_URL=server.new()) as life:
        turn_id = await life.begin()
        await life.reaches(turn_id, "implement")
        with away(server):
            requests = life.begin(), life.begin(), life.engine.conversations.list("me")
            refused = await asyncio.gather(*requests, return_exceptions=True)
        for error in refused:
            assert isinstance(error, DatabaseUnavailable), error
            assert " on 127.0.0.1 does not answer: " in error.message
        last = await life.ends(turn_id)
        if not isinstance(last, TurnFinished):
            assert isinstance(last, TurnFailed)
            assert " on 127.0.0.1 does not answer: " in last.message
            assert last.remedy == "check that its server runs, and DATABASE_URL, then ask again"
        await life.works(BUILD if isinstance(last, TurnFailed) else AGAIN)


@contextmanager
def disk(folder: Path) -> Iterator[None]:
    """A small disk is mounted there."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted: {mounted.stderr.strip()}; run the tests as root")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """There is no space left."""
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    ballast.write(b"x" * size)
            except OSError:
                continue
    try:
        yield
    finally:
        (disk / "ballast").unlink()


async def test_a_full_disk_is_named_until_there_is_space(tmp_path: Path, living: Living) -> None:
    home = tmp_path / "home"
    with disk(home):
        async with living() as life:
            turn_id = await life.begin()
            await life.reaches(turn_id, "implement")
            with filled(home):
                last = await life.fails(turn_id)
                with pytest.raises(DatabaseUnavailable, match=r"agent\.db has no space left"):
                    await life.begin()
            assert last.message == (
                "the database agent.db has no space left: database or disk is full"
            )
            assert last.remedy == "free space on its disk, then ask again"
            await life.works()


async def test_tools_on_a_full_disk_are_named_until_there_is_space(
    tmp_path: Path, living: Living
) -> None:
    tools = tmp_path / "home" / "tools"
    with disk(tools):
        async with living() as life:
            with filled(tools):
                last = await life.fails(await life.begin())
            assert last.kind == "library"
            assert last.message.startswith("the files of reverse_string can't be written: ")
            assert "No space left on device" in last.message
            assert "space" in last.remedy
            assert await life.engine.library.tools() == ()
            await life.works()


def deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def damaged(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(os.urandom(5000))


@pytest.mark.parametrize("harm", [deleted, pytest.param(damaged, marks=pytest.mark.extended)])
async def test_an_index_that_is_gone_or_damaged_is_made_again(
    life: Life, harm: Callable[[Path], None]
) -> None:
    await life.works()
    assert await life.engine.library.settle(30) == "ready"
    harm(life.home.folder / "chroma_db")
    await life.works(AGAIN)
    assert await life.engine.library.settle(30) == "ready"
    await life.works("Reverse the string 'xyz'")
