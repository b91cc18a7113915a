"""The stored data of a person: the report, retention and deletion."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.bootstrap import build_engine
from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import FINAL
from selfeng.core.files import File
from selfeng.core.settings import Settings, load_settings
from selfeng.engine import Engine
from selfeng.store import schema
from selfeng.store.conversation_list import ConversationChange
from tests.home import Home
from tests.registry.drafts import REVERSE


@pytest.fixture
async def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in Home(tmp_path / "home").environment(LESSONS_LEARN="false").items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(load_settings(None))) as agent:
        yield agent


async def ask(agent: Engine, owner: str, request: str, *files: File) -> str:
    """The conversation of a request, once it is answered."""
    asked = await agent.ask(owner, None, request, files)
    async for record in agent.conversations.follow(owner, asked.turn_id):
        if isinstance(record.event, FINAL):
            break
    return asked.conversation_id


def counts(agent: Engine, owner: str) -> dict[str, int]:
    return {k.kind: k.count for k in agent.personal_data.report(owner).kinds if k.count is not None}


def age(agent: Engine, conversation_id: str, days: int) -> None:
    """Make a conversation's turns older."""
    began = datetime.now(UTC) - timedelta(days=days)
    turns = schema.turns
    of_conversation = turns.c.conversation_id == conversation_id
    with agent.journal._engine.begin() as connection:
        connection.execute(sa.update(turns).where(of_conversation).values(started_at=began))


async def test_deletion_removes_all_of_one_person_and_nothing_of_others(agent: Engine) -> None:
    file = File(name="a.txt", content=b"one two three")
    mine = await ask(agent, "me", "Hello!", file)
    yours = await ask(agent, "you", "Hello!", file)
    before = agent.personal_data.report("me")
    assert {k.kind: k.size for k in before.kinds}["files"] == len(file.content)
    assert counts(agent, "me")["conversations"] == 1
    await agent.delete_data("me")
    assert not any(counts(agent, "me").values())
    with pytest.raises(ResourceNotFound):
        await agent.conversations.get("me", mine)
    assert counts(agent, "you")["files"] == 1
    assert await agent.conversations.history("you", yours)


async def test_what_only_this_person_asked_no_longer_finds_a_tool(agent: Engine) -> None:
    await agent.setup.get_ready()
    tool = await agent.library.add(REVERSE)
    for text in ("Hello!", "Something else"):
        await agent.library.record_request(tool.name, tool.version, text)
    await ask(agent, "me", "Hello!")
    assert agent.personal_data.requests("you") == {}
    assert agent.personal_data.requests("me") == {tool.name: {"Hello!"}}
    await agent.delete_data("me")
    assert (await agent.library.used_requests([tool.name]))[tool.name] == ("Something else",)


async def test_an_example_that_somebody_asked_later_stays_one(agent: Engine) -> None:
    mine = await ask(agent, "me", "Hello!")
    tool = await agent.library.add(
        REVERSE.model_copy(update={"example_requests": ("Hello!", "Something else")})
    )
    conversations = agent.conversations
    assert await conversations.examples_of("you", [tool]) == (("Something else",),)
    age(agent, mine, -1)
    assert await conversations.examples_of("you", [tool]) == (tool.example_requests,)
    assert await conversations.examples("me", tool) == tool.example_requests


async def test_conversations_are_kept_for_so_many_days(agent: Engine) -> None:
    ids = [await ask(agent, "me", f"Reverse the text '{text}'") for text in ("a", "b", "c", "d")]
    old, pinned, deleted, new = ids
    change = agent.conversations.change
    await change("me", pinned, ConversationChange(pinned=True))
    for conversation_id in (old, pinned, deleted):
        age(agent, conversation_id, 31)
    await change("me", deleted, ConversationChange(deleted=True))
    agent.journal.remove_deleted()
    assert {c.id for c in agent.journal.conversations("me")} == {old, pinned, new}
    await agent.configuration.change({"keep_days": 30})
    agent.journal.remove_deleted()
    assert {c.id for c in agent.journal.conversations("me")} == {pinned, new}
    await change("me", deleted, ConversationChange(deleted=False))
    assert agent.journal.conversation("me", deleted).id == deleted
    assert agent.personal_data.report("me").keep_days == 30
