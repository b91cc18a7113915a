"""The contents of a link: events of the conversation itself, of turns that have ended, and nothing
of the library or the server.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.core.events import (
    AnswersRecomputed,
    BudgetSpent,
    Event,
    Limits,
    NoToolFound,
    SynthesisStep,
    ThoughtAloud,
    ToolFound,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Witnessed,
)
from selfeng.core.files import LargeFiles
from selfeng.core.stage_event import Usage
from selfeng.store import schema
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import reading
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.shares import Shares

AT = datetime(2026, 1, 2, tzinfo=UTC)
SPENT = Usage(calls=3, input_tokens=20, output_tokens=10, cost=0.02)
FOUND = ToolFound(
    tool="add", confidence=0.9, considered=("add", "private"), confidences=(0.9, 0.1), reason="near"
)


@pytest.fixture
def journal(database: sa.Engine) -> Journal:
    return Journal(database)


@pytest.fixture
def shares(database: sa.Engine, journal: Journal, tmp_path: Path) -> Shares:
    files = ConversationFiles(database, LargeFiles(tmp_path / "files"))
    return Shares(database, journal, files)


def _turn(journal: Journal, conversation: str, *events: Event) -> str:
    turn = journal.begin_turn(conversation, "request")
    journal.append([JournalEntry(conversation, turn, AT, event) for event in events])
    return turn


def _shown(shares: Shares, conversation: str) -> list[Event]:
    async def read() -> list[Event]:
        token = (await shares.create("ann", conversation)).token
        shared = await shares.opened(token)
        assert shared is not None
        records = await shares.records(shared)
        assert {r.conversation_id for r in records} <= {""}
        return [r.event for r in records]

    return asyncio.run(read())


def test_what_is_of_the_library_or_the_server_stays_there(shares: Shares, journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "first")
    started = TurnStarted(request="one")
    _turn(
        journal,
        conversation,
        started,
        ThoughtAloud(text="hm", call=1),
        BudgetSpent(usage=SPENT, limits=Limits(calls=9, tokens=9, seconds=9), seconds=1),
        NoToolFound(reason="only private is near", considered=("private",), confidences=(0.1,)),
        SynthesisStep(step="implement", state="streaming", text="def"),
        FOUND,
        Witnessed(tool="add", agree=1, of=2, other="3"),
        AnswersRecomputed(tool="add", version=2, computed=31, changed=2),
        TurnFinished(answer="two", tool="add", nearest=("private",), usage=SPENT, seconds=1),
    )
    server = TurnFailed(
        where="search", message="http://10.0.0.5 is gone", remedy="see the log", kind="model"
    )
    task = TurnFailed(where="verify", message="a test failed", remedy="try", kind="task")
    _turn(journal, conversation, started, server)
    _turn(journal, conversation, started, task)
    _turn(journal, conversation, started)
    assert _shown(shares, conversation) == [
        started,
        NoToolFound(reason=""),
        ToolFound(tool="add", confidence=0.9),
        TurnFinished(answer="two", tool="add", seconds=1),
        started,
        server.model_copy(update={"message": "", "remedy": "", "values": {}}),
        started,
        task.model_copy(update={"remedy": ""}),
    ]


def test_a_link_shows_the_newest_branch(shares: Shares, journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "first")
    started, end = TurnStarted(request="one"), TurnFinished(answer="1")
    first = _turn(journal, conversation, started, end)
    _turn(journal, conversation, TurnStarted(request="private"), end)
    other = TurnStarted(request="two", after=first)
    _turn(journal, conversation, other, end)
    assert _shown(shares, conversation) == [started, end, other, end]


def test_links_go_with_their_conversation(
    shares: Shares, journal: Journal, database: sa.Engine
) -> None:
    conversation = journal.create_conversation("ann", "first")
    assert _shown(shares, conversation) == []
    journal.remove_conversations([conversation])
    with reading(database) as connection:
        assert connection.execute(sa.select(schema.shares.c.id)).all() == []
