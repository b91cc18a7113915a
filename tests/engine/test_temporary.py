"""Temporary conversations: in no list, in no search, no lesson; what they build stays."""

from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from selfeng.bootstrap import build_engine
from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import Record, TurnFinished
from selfeng.core.files import File
from selfeng.core.settings import Settings
from selfeng.store import schema
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.database import open_database, reading, writing
from tests.home import Home

BUILD = "Reverse the text 'abc'"


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path / "home", bubblewrap=True)


@pytest.fixture
async def agent(home, monkeypatch):
    for name, value in home.environment().items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(Settings(_env_file=None))) as agent:
        await agent.learning.start()
        yield agent


@pytest.fixture
def database(home, agent):
    opened = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    yield opened
    opened.dispose()


def rows(database: sa.Engine, *columns: sa.Column) -> list:
    with reading(database) as connection:
        return connection.execute(sa.select(*columns)).all()


async def asked(agent, conversation: str | None, text: str, *files: File) -> str:
    turn = await agent.ask("me", conversation, text, files, temporary=True)
    await agent.settle()
    await agent.learning.settle()
    return turn.conversation_id


async def test_it_goes_on_but_is_in_no_list_and_no_search(agent):
    mine = await asked(agent, None, "Hello!")
    assert await asked(agent, mine, "Thanks!") == mine
    history = await agent.conversations.history("me", mine)
    assert sum(isinstance(record.event, TurnFinished) for record in history) == 2
    assert (await agent.conversations.get("me", mine)).kind == "temporary"
    assert await agent.conversations.list("me") == ()
    assert await agent.conversations.list("me", "Hello") == ()
    assert await agent.conversations.turn_after("me", ["Hello!"]) is None
    usual = await agent.ask("me", None, "Hello!")
    await agent.settle()
    assert [c.id for c in await agent.conversations.list("me")] == [usual.conversation_id]


@pytest.mark.bubblewrap
async def test_nothing_is_learnt_from_it_and_its_tool_stays(agent, database):
    mine = await asked(agent, None, BUILD)
    ends = [r.event for r in await agent.conversations.history("me", mine)][-1]
    assert isinstance(ends, TurnFinished)
    assert ends.tool
    await asked(agent, mine, BUILD.replace("abc", "xyz"))
    assert rows(database, schema.tool_requests.c.request) == []
    (prompts,) = rows(database, schema.tool_versions.c.prompts)
    assert "specification" in prompts[0]
    assert "abc" not in prompts[0]
    assert rows(database, schema.lessons.c.id) == []
    assert {tuple(row) for row in rows(database, schema.examined_turns.c.unusable)} == {(0,)}
    assert (await agent.conversations.habits("me", ends.tool)).calls == ()
    await agent.conversations.change("me", mine, ConversationChange(deleted=True))
    assert (await agent.library.get(ends.tool)).name == ends.tool


async def test_it_is_removed_with_its_files_at_once_or_when_it_is_a_day_old(agent, database):
    conversations = [
        await asked(agent, None, "Hello!", File(name="a.csv", content=b"a\n%d" % number))
        for number in range(3)
    ]
    gone, left, stays = conversations
    with writing(database) as connection:
        long_ago = datetime.now(UTC) - timedelta(days=2)
        old = schema.turns.c.conversation_id == left
        connection.execute(schema.turns.update().where(old).values(started_at=long_ago))
    await agent.conversations.change("me", gone, ConversationChange(deleted=True))
    for name in (gone, left):
        with pytest.raises(ResourceNotFound):
            await agent.conversations.get("me", name)
        with pytest.raises(ResourceNotFound):
            await agent.conversations.change("me", name, ConversationChange(deleted=False))
    assert rows(database, schema.conversations.c.id) == [(stays,)]
    assert rows(database, schema.contents.c.content) == [(b"a\n2",)]
    assert rows(database, schema.files.c.conversation_id) == [(stays,)]


async def test_one_that_is_deleted_while_it_runs_is_removed_later(agent, database):
    records: list[Record] = []
    agent.feed.subscribe(records.extend)
    turn = await agent.ask("me", None, BUILD, temporary=True)
    deletion = ConversationChange(deleted=True)
    await agent.conversations.change("me", turn.conversation_id, deletion)
    await agent.settle()
    assert records[-1].seq > 0
    agent.journal.remove_deleted()
    assert rows(database, schema.conversations.c.id) == []
