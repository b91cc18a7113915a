"""Engines on one PostgreSQL, as web processes on several machines have them: what happens in one
reaches the people of the other.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, Record
from selfeng.core.settings import Settings
from selfeng.engine import Engine
from selfeng.lessons.book import Finding, LessonBook
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.database import attach
from selfeng.store.journal import Journal
from tests.databases import Postgres
from tests.embedding.hashing import HashingEmbedder
from tests.home import Home
from tests.registry.drafts import REVERSE

pytestmark = pytest.mark.postgres
Engines = tuple[Engine, Engine]


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new()


@pytest.fixture
async def engines(tmp_path: Path, url: str) -> AsyncIterator[Engines]:
    async with AsyncExitStack() as stack:
        opened = []
        for name in ("first", "second"):
            home = Home(tmp_path / name)
            settings = Settings(
                _env_file=None,
                database_url=url,
                tools_dir=home.tools,
                chroma_persist_dir=home.folder / "chroma_db",
                data_dir=home.folder / "data",
            )
            engine = await stack.enter_async_context(aclosing(await build_engine(settings)))
            await engine.news.started()
            opened.append(engine)
        yield opened[0], opened[1]


@asynccontextmanager
async def heard(subscribe: Callable[[Callable[..., None]], object]) -> AsyncIterator[None]:
    """Ends when something was told that began inside."""
    told = asyncio.Event()
    subscribe(lambda *_: told.set())
    yield
    async with asyncio.timeout(60):
        await told.wait()


async def test_a_turn_is_seen_and_stopped_from_another_process(engines: Engines) -> None:
    first, second = engines
    conversation = await first.conversations.named("me", "shared")
    records: asyncio.Queue[Record] = asyncio.Queue()
    second.feed.subscribe(lambda batch: [records.put_nowait(record) for record in batch])
    assert await second.conversations.history("me", conversation) == ()
    asked = await first.ask("me", conversation, "Reverse 'abc'")
    seen = [await records.get()]
    assert not await second.stop("somebody", asked.turn_id)
    assert await second.stop("me", asked.turn_id)
    while not isinstance(seen[-1].event, FINAL):
        seen.append(await records.get())
    last = seen[-1].event
    assert (last.type, last.reason) == ("turn_stopped", "Stopped on request.")
    assert await first.conversations.history("me", conversation) == tuple(seen)
    assert not await second.stop("me", asked.turn_id)


async def test_who_leaves_a_turn_that_another_process_runs_stops_it(engines: Engines) -> None:
    first, second = engines
    conversation = await first.conversations.named("me", "left")
    records: asyncio.Queue[Record] = asyncio.Queue()
    first.feed.subscribe(lambda batch: [records.put_nowait(record) for record in batch])
    assert await second.conversations.history("me", conversation) == ()
    begun = first.ask("me", conversation, "Reverse 'abc'")
    async with aclosing(second.turn("me", begun)) as watched:
        await anext(watched)
    while not isinstance((last := await records.get()).event, FINAL):
        pass
    assert last.event.type == "turn_stopped"


async def test_a_conversation_that_is_deleted_elsewhere_stops_its_turn(engines: Engines) -> None:
    first, second = engines
    records: asyncio.Queue[Record] = asyncio.Queue()
    first.feed.subscribe(lambda batch: [records.put_nowait(record) for record in batch])
    asked = await first.ask("me", None, "Reverse 'abc'")
    async with heard(first.conversations.changed.subscribe):
        change = ConversationChange(deleted=True)
        await second.conversations.change("me", asked.conversation_id, change)
    while not isinstance((last := await records.get()).event, FINAL):
        pass
    assert last.event.type == "turn_stopped"


async def test_a_change_of_the_lessons_reaches_the_other_process(
    engines: Engines, url: str
) -> None:
    first, second = engines
    async with heard(second.learning.changed.subscribe):
        database = attach(url)
        journal = Journal(database)
        turn = journal.begin_turn(journal.create_conversation("me", "c"), "request")
        finding = Finding(agent="implement", trigger="Units", advice="Ask.", same_as=None)
        LessonBook(database, HashingEmbedder()).close(turn, "digest", [], [finding])
        database.dispose()
    (lesson,) = await second.learning.lessons()
    async with heard(first.learning.changed.subscribe):
        await second.learning.edit(lesson.id, "Units", "Convert.")


async def test_a_new_tool_reaches_the_folder_of_the_other_machine(
    engines: Engines, tmp_path: Path
) -> None:
    first, second = engines
    async with heard(second.changes.subscribe):
        await first.library.add(REVERSE)
    assert (tmp_path / "second" / "tools" / "reverse_text.py").read_text() == REVERSE.code
