"""The deletion of a person's data: a canary in every kind of it, which nothing holds afterwards."""

import json
import pickle
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.bootstrap import DELEGATED, PROJECTS, build_engine
from selfeng.core.errors import ToolNotFound
from selfeng.core.events import FINAL, BudgetSpent, ExecutionFinished, Limits
from selfeng.core.files import LARGE, File
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, NetworkAccess
from selfeng.core.owner import owned_by
from selfeng.core.prompt import ChatMessage
from selfeng.core.provenance import AskedPrompt, Created, Proposal, Provenance, Repaired
from selfeng.core.schedule import SchedulePlan
from selfeng.core.settings import Settings, load_settings
from selfeng.core.stage_event import Usage
from selfeng.core.tool import Requirement, Tool, ToolDraft
from selfeng.engine import Engine
from selfeng.library.tool_editor import Proposals
from selfeng.projects.state import ProjectState, ProjectStore
from selfeng.store import schema
from selfeng.store.grants import Grants
from selfeng.store.journal import JournalEntry
from selfeng.store.retention import DATA_KINDS
from selfeng.store.threads import Threads
from tests.databases import address
from tests.doubles import kept
from tests.home import Home
from tests.registry.drafts import draft
from web.texts import LOCALES

CANARY = "kanarie7f3a"
ME, YOU = f"me-{CANARY}", "you"
SAID, YEARLY = f"say {CANARY}", "0 0 1 1 *"
PROVENANCE = Provenance(
    prompts=(AskedPrompt(name="tests", digest="0", text=SAID),), usage=Usage(calls=1)
)


def exchange(url: str, *, from_call: bool) -> Exchange:
    return Exchange(
        request=HttpRequest(method="GET", url=url),
        response=HttpResponse(status=200, url=url),
        at=datetime.now(UTC),
        from_call=from_call,
    )


MINE = draft("mine_only", f"Say {CANARY}.", (SAID,), f"return text + '{CANARY}'").model_copy(
    update={
        "exchanges": (exchange(f"https://a.example/{CANARY}", from_call=False),),
        "witnesses": (f"def mine_only(text):\n    return '{CANARY}'\n",),
    }
)
SHARED = draft("shared_tool", "Say a text.", (SAID, "say a")).model_copy(
    update={
        "exchanges": (
            exchange("https://a.example/a", from_call=False),
            exchange(f"https://a.example/{CANARY}", from_call=True),
        ),
    }
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
async def agent(
    home: Home, database: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Engine]:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    more = {"LESSONS_LEARN": "false", "DATABASE_URL": address(database)}
    for name, value in home.environment(**more).items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(load_settings(None), durable=True)) as agent:
        await agent.setup.get_ready()
        await agent.library.add(draft("repeat_text"))
        yield agent


async def stock(agent: Engine, database: sa.Engine, owner: str, word: str) -> str:
    """Let a person have some of everything; returns the turn's id."""
    files = (
        File(name=f"{word}.txt", content=word.encode()),
        agent.files.take_in(File(name="large.txt", content=word.encode() * (LARGE // len(word)))),
        agent.files.take_in(File(name="larger.txt", content=word.encode() * LARGE)),
    )
    asked = await agent.ask(owner, None, f"say {word}", files)
    async for record in agent.conversations.follow(owner, asked.turn_id):
        if isinstance(record.event, FINAL):
            break
    await agent.settle()
    await agent.shares.create(owner, asked.conversation_id)
    returned = kept(json.dumps([word]))
    events = (
        ExecutionFinished(tool="shared_tool", execution=returned),
        BudgetSpent(
            usage=Usage(calls=1), limits=Limits(calls=1, tokens=1, seconds=1.0), seconds=0.0
        ),
    )
    agent.journal.append(
        [
            JournalEntry(asked.conversation_id, asked.turn_id, datetime.now(UTC), event)
            for event in events
        ]
    )
    threads = Threads(database)
    thread = threads.open(asked.conversation_id, "person", "coder")
    threads.append(thread, (ChatMessage(role="user", content=word),), f"{asked.turn_id}/1")
    folder = Path(agent.configuration.settings.data_dir)
    project = agent.journal.create_conversation(owner, word, "project")
    for store, name in (
        (ProjectStore(folder / PROJECTS / project), word),
        (ProjectStore(folder / DELEGATED), f"{word}-{asked.conversation_id[:8]}"),
    ):
        store.save(name, ProjectState(goal=word))
        store.workspace(name).write("a.txt", word.encode())
    tool = Tool(**dict(draft(f"propose_{word[0]}")), created_at=datetime.now(UTC), digest="0")
    prompts = (AskedPrompt(name="tests", digest="0", text=word),)
    waiting = Proposal(**dict(tool), provenance=Provenance(prompts=prompts))
    Proposals(database).put(owner, waiting)
    Grants(database).put(
        owner, f"tool_{word[0]}", 1, [NetworkAccess(host="a.example", path=f"/{word}")]
    )
    agent.vault.set(f"KEY_{word[0].upper()}", f"{word}-{word}", owner)
    with database.begin() as connection:
        row = {"agent": "coder", "trigger": word, "advice": word, "uses": 0, "helped": 0}
        row |= {"failed": 0, "weight": 0.5, "expired": False, "owner": owner}
        at = datetime.now(UTC)
        connection.execute(
            schema.lessons.insert().values(id=word[:8], created_at=at, updated_at=at, **row)
        )
        connection.execute(
            schema.lesson_evidence.insert().values(lesson_id=word[:8], turn_id=asked.turn_id, at=at)
        )
    plan = SchedulePlan(name=word, tool="repeat_text", arguments={"text": word}, cron=YEARLY)
    await agent.schedule(owner, plan)
    assert agent.workflows
    part = f"{asked.turn_id}/part"
    await agent.workflows.open(part, pickle.dumps([("model.ask", word)]))
    await agent.workflows.end(part, keep=True)
    return asked.turn_id


def rows(database: sa.Engine) -> dict[str, set[str]]:
    """All rows of all tables as text, but for counts of changes and effects of ended turns."""
    with database.connect() as connection:
        return {
            table.name: {repr(row) for row in connection.execute(sa.select(table))}
            for table in schema.metadata.sorted_tables
            if table.name not in ("properties", "tool_changes", "processes", "effects")
        }


def everything(database: sa.Engine, home: Home) -> dict[str, bytes]:
    """All files below the home, and on PostgreSQL all rows of all tables."""
    folder = home.folder.parent  # a SQLite is beside the home
    contents = {str(f): f.read_bytes() for f in folder.rglob("*") if f.is_file()}
    contents |= {f"{path}:": path.name.encode() for path in folder.rglob(f"*{CANARY}*")}
    if database.dialect.name == "postgresql":
        names = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'dbos')"
        with database.connect() as connection:
            for owner, table in connection.execute(sa.text(names)).all():
                text = connection.execute(sa.text(f'SELECT * FROM "{owner}"."{table}"'))
                contents[f"{owner}.{table}"] = b"\n".join(
                    bytes(v) if isinstance(v, bytes | memoryview) else str(v).encode()
                    for row in text
                    for v in row
                )
    return contents


def holders(contents: dict[str, bytes]) -> list[str]:
    return sorted(name for name, content in contents.items() if CANARY.encode() in content)


async def add(agent: Engine, owner: str, tool: ToolDraft, **of: Any) -> None:
    with owned_by(owner):
        await agent.library.add(tool, PROVENANCE, **of)


async def test_nothing_of_a_person_is_left_and_others_keep_all(
    agent: Engine, database: sa.Engine, home: Home
) -> None:
    yours = await stock(agent, database, YOU, "plain")
    before = rows(database)
    mine = await stock(agent, database, ME, CANARY)
    await add(agent, ME, MINE)
    await add(agent, ME, SHARED)
    with owned_by(ME):
        await agent.library.record_request("shared_tool", 1, f"tell {CANARY}")
        repaired = SHARED.model_copy(update={"code": SHARED.code + "# repaired\n"})
        origin = Repaired(failure=CANARY)
        await agent.library.revise(repaired, 1, PROVENANCE.model_copy(update={"origin": origin}))
    with owned_by(YOU):
        examples = (*SHARED.example_requests, "say b")
        better = repaired.model_copy(update={"example_requests": examples})
        await agent.library.revise(better, 2, Provenance())
        await agent.library.record_request("shared_tool", 3, "tell a")
    full = {Path(name).name for name in holders(everything(database, home))}
    assert full & {"agent0.db", "agent0.db-wal", "public.events"}
    assert {"mine_only.py", "a.txt", "state.json"} < full
    await agent.delete_data(ME)
    assert (await agent.library.used_requests(["shared_tool"]))["shared_tool"] == ("tell a",)
    stays = await agent.library.get("shared_tool")
    assert stays.example_requests == ("say b",)
    assert len(stays.exchanges) == 1
    assert [v.provenance.origin for v in await agent.library.versions("shared_tool")] == [
        Created(),
        Repaired(),
        Created(),
    ]
    with pytest.raises(ToolNotFound):
        await agent.library.versions("mine_only")
    after = rows(database)
    lost = {name: old - after[name] for name, old in before.items() if old - after[name]}
    assert lost == {}
    new = {name for name, current in after.items() if current - before[name]}
    assert new <= {
        "tools",
        "tool_versions",
        "tool_requests",
        "tool_vectors",
        "tool_words",
        "cassettes",
    }
    assert agent.workflows
    assert await agent.workflows.kept_steps(mine) == []
    assert ("model.ask", "plain") in await agent.workflows.kept_steps(yours)
    assert [secret.name for secret in agent.vault.list()] == ["KEY_P"]
    assert holders(everything(database, home)) == []
    await agent.aclose()
    assert holders(everything(database, home)) == []


async def test_a_waiting_turn_is_stopped_first(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in home.environment(TURNS_PER_PROCESS="0").items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(load_settings(None), durable=True)) as agent:
        await agent.ask(ME, None, SAID)
        assert agent.journal.running_of(ME)
        await agent.delete_data(ME)
        assert agent.journal.running_of(ME) == []
        assert agent.journal.conversations(ME) == ()


async def test_tools_that_others_use_stay_and_those_that_these_import(
    agent: Engine, database: sa.Engine
) -> None:
    for name in ("alone", "below", "called", "granted", "planned"):
        await add(agent, ME, draft(name))
    above = draft("above").model_copy(update={"requires": (Requirement(name="below", version=1),)})
    await add(agent, YOU, above)
    arguments = {"text": "a"}
    await agent.schedule(YOU, SchedulePlan(tool="planned", arguments=arguments, cron=YEARLY))
    Grants(database).put(YOU, "granted", 1, [NetworkAccess(host="a.example")])
    conversation = agent.journal.create_conversation(YOU, "yours")
    turn = agent.journal.begin_turn(conversation, "call it")
    event = ExecutionFinished(tool="called", execution=kept("1"))
    agent.journal.append([JournalEntry(conversation, turn, datetime.now(UTC), event)])
    await agent.delete_data(ME)
    names = {tool.name for tool in await agent.library.tools()}
    assert {"above", "below", "called", "granted", "planned"} <= names
    assert "alone" not in names


async def test_every_table_and_every_file_belongs_to_one_kind(
    agent: Engine, database: sa.Engine, home: Home
) -> None:
    await stock(agent, database, YOU, "plain")
    listed = [table for kind in DATA_KINDS for table in kind.tables]
    assert sorted(listed) == sorted(schema.metadata.tables)
    there = set(sa.inspect(database).get_table_names()) - set(listed) - {"alembic_version"}
    assert {name for name in there if not name.startswith(schema.WORD_INDEX)} == set()
    patterns = [pattern for kind in DATA_KINDS for pattern in kind.places]
    files = {path.name for path in (home.folder / "data").iterdir()}
    unlisted = {name for name in files if not any(_belongs(name, p) for p in patterns)}
    assert unlisted == set()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_has_words_for_every_kind(language: str) -> None:
    text = (LOCALES / f"{language}.ftl").read_text("utf-8")
    names = {
        part for k in DATA_KINDS for part in (k.kind, f"until-{k.until}", f"goes-{k.deletion}")
    }
    assert [name for name in sorted(names) if f"\ndata-{name} = " not in text] == []


def _belongs(name: str, pattern: str) -> bool:
    """Also the locks and the logs of a file."""
    bare = name.removeprefix(".").removesuffix(".lock") if name.endswith(".lock") else name
    pattern = pattern.rstrip("/")
    return Path(bare).match(pattern) or bare.startswith((f"{pattern}-", f"{pattern}."))
