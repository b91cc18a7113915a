"""Processes that share a PostgreSQL hear of each other's records: each once, in order, without a
gap.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import get_args

import pytest
import sqlalchemy as sa

from selfeng.core.events import AnswerToken, Record, Searching, TurnFinished
from selfeng.store.database import attach
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.news import NewsListener, Topic, announce
from selfeng.store.recorder import Feed, Recorder
from tests.databases import Postgres

pytestmark = pytest.mark.postgres


class Process:
    """The store of one web process."""

    def __init__(self, url: str) -> None:
        self.engine = attach(url)
        self.journal = Journal(self.engine)
        self.recorder = Recorder(self.journal)
        self.feed = Feed(self.journal, self.recorder)
        self.seen: list[tuple[int, str]] = []
        self.items: list[tuple[Topic, str]] = []
        self.connected = 0
        self._arrived = asyncio.Condition()
        self.feed.subscribe(self._take)
        routes = {topic: partial(self._hear, topic) for topic in get_args(Topic)}
        self.listener = NewsListener(self.engine, routes)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(120), self._arrived:
            await self._arrived.wait_for(holds)

    async def say(self, conversation_id: str, *texts: str) -> None:
        for text in texts:
            self.recorder.emit(conversation_id, "turn", Searching(within=text))
        await self.recorder.flush()

    async def aclose(self) -> None:
        await self.recorder.aclose()
        await self.listener.aclose()
        await self.feed.aclose()
        self.engine.dispose()

    async def cut_all(self) -> None:
        """Cut the connections of every process, as a restart of the database would."""
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        others += "current_database() AND pid <> pg_backend_pid()"
        with self.engine.connect() as connection:
            connection.execute(sa.text(others))

    def _take(self, records: list[Record]) -> None:
        self.seen += [(r.seq, r.event.within) for r in records if isinstance(r.event, Searching)]
        self._tell()

    def _hear(self, topic: Topic, about: str) -> None:
        self.items.append((topic, about))
        if topic == "journal":
            self.connected += not about
            self.feed.news(about)
        self._tell()

    def _tell(self) -> None:
        async def tell() -> None:
            async with self._arrived:
                self._arrived.notify_all()

        self._telling = asyncio.get_running_loop().create_task(tell())


@asynccontextmanager
async def processes(url: str) -> AsyncIterator[tuple[Process, Process]]:
    first, second = Process(url), Process(url)
    for process in (first, second):
        await process.listener.started()
        process.items.clear()
    try:
        yield first, second
    finally:
        await first.aclose()
        await second.aclose()


async def test_records_of_another_process_arrive_and_own_ones_once(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        for process in (first, second):
            await process.feed.watch(conversation)
        await first.say(conversation, "a", "b")
        await second.until(lambda: len(second.seen) == 2)
        await second.say(conversation, "c")
        await first.until(lambda: len(first.seen) == 3)
        await first.say(conversation, "d")
        await second.until(lambda: len(second.seen) == 4)
        assert first.seen == second.seen == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


async def test_records_that_cross_are_in_order_in_both_processes(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        for process in (first, second):
            await process.feed.watch(conversation)
        for n in range(40):
            await asyncio.gather(*(p.say(conversation, f"{n}") for p in (first, second)))
        for process in (first, second):
            await process.until(lambda process=process: len(process.seen) == 80)
            assert [seq for seq, _ in process.seen] == list(range(1, 81))


async def test_after_all_connections_were_cut_nothing_is_missing_and_nothing_comes_twice(
    postgres: Postgres,
) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        await second.feed.watch(conversation)
        await first.say(conversation, *(f"{n}" for n in range(5)))
        await second.until(lambda: len(second.seen) == 5)
        before = second.connected
        for n in range(5, 25):
            await first.say(conversation, f"{n}")
            if n == 10:
                await first.cut_all()
        await second.until(lambda: second.connected > before and len(second.seen) == 25)
        assert second.seen == [(n + 1, f"{n}") for n in range(25)]


async def test_a_restart_of_the_database_loses_no_record(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        await second.feed.watch(conversation)
        await first.say(conversation, "before")
        await asyncio.to_thread(postgres.stop)
        first.recorder.emit(conversation, "turn", Searching(within="meanwhile"))
        await asyncio.to_thread(postgres.start)
        await first.say(conversation, "after")
        await second.until(lambda: len(second.seen) == 3)
        assert second.seen == [(1, "before"), (2, "meanwhile"), (3, "after")]


async def test_only_watched_conversations_are_read_from_others(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        watched, other = (first.journal.create_conversation("me", name) for name in "ab")
        await second.feed.watch(watched)
        await first.say(other, "unseen")
        await first.say(watched, "seen")
        await second.until(lambda: bool(second.seen))
        assert second.seen == [(1, "seen")]
        assert [about for _, about in second.items] == [f"{other}:1", f"{watched}:1"]


async def test_news_are_told_with_their_transaction_and_never_to_the_one_who_tells(
    postgres: Postgres,
) -> None:
    async with processes(postgres.new()) as (first, second):
        with first.engine.connect() as connection:
            with connection.begin() as given_up:
                announce(connection, "library")
                given_up.rollback()
            with connection.begin():
                announce(connection, "lessons")
                announce(connection, "lessons")
        conversation = second.journal.create_conversation("me", "c")
        turn = second.journal.begin_turn(conversation, "request")
        end = JournalEntry(conversation, turn, datetime.now(UTC), TurnFinished(answer="x"))
        second.journal.append([end])
        await first.until(lambda: len(first.items) == 2)
        await second.until(lambda: bool(second.items))
        assert second.items == [("lessons", "")]
        assert first.items == [("journal", f"{conversation}:1"), ("conversations", "")]


async def test_a_stop_is_told_for_a_turn_of_ones_own_that_runs(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        turn = first.journal.begin_turn(conversation, "request")
        asked = [second.journal.request_stop(*who) for who in (("me", "x"), ("you", turn))]
        assert asked == [False, False]
        assert second.journal.request_stop("me", turn)
        await first.until(lambda: bool(first.items))
        assert first.items == [("stop", turn)]


async def test_pieces_of_a_stream_arrive_in_the_order_of_the_stream(postgres: Postgres) -> None:
    async with processes(postgres.new()) as (first, second):
        conversation = first.journal.create_conversation("me", "c")
        await second.feed.watch(conversation)
        text: list[str] = []
        second.feed.subscribe(
            lambda records: text.extend(
                r.event.text for r in records if isinstance(r.event, AnswerToken)
            )
        )
        for letter in "a stream of letters":
            first.recorder.emit(conversation, "turn", AnswerToken(text=letter))
            await asyncio.sleep(0)
        await first.say(conversation, "end")
        await second.until(lambda: bool(second.seen))
        assert "".join(text) == "a stream of letters"
