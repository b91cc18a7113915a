"""Retention: what is kept no longer goes, and what is in use stays."""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

from selfeng.core.files import LARGE, LargeFiles
from selfeng.core.provenance import Provenance
from selfeng.core.tool import Tool
from selfeng.library import records, versions
from selfeng.store import retention, schema
from selfeng.store.database import writing
from selfeng.store.journal import Journal
from selfeng.store.processes import Processes
from selfeng.store.retention import Retention
from tests.engine.test_deletion import exchange
from tests.registry.drafts import draft

NOW = datetime.now(UTC)


class Swept:
    """Retention on a database, with the clock of its rows."""

    def __init__(self, database: sa.Engine, folder: Path) -> None:
        self.database, self.journal = database, Journal(database)
        self.files = LargeFiles(folder)
        self.projects: list[frozenset[str]] = []

    def sweeper(self) -> Retention:
        return Retention(
            self.database,
            self.journal,
            claim=Processes(self.database).claim,
            lesson_days=lambda: 90,
            files=self.files,
            keep_projects=lambda beginnings: self.projects.append(frozenset(beginnings)),
        )

    def insert(self, table: sa.Table, *rows: dict[str, object]) -> None:
        with writing(self.database) as connection:
            connection.execute(table.insert(), list(rows))

    def column(self, column: sa.Column[str]) -> set[str]:
        with self.database.connect() as connection:
            return set(connection.scalars(sa.select(column)))


@pytest.fixture
def swept(database: sa.Engine, tmp_path: Path) -> Swept:
    return Swept(database, tmp_path / "files")


def tool(number: int, recorded: str) -> Tool:
    of = draft("ask_service").model_copy(
        update={"exchanges": (exchange(f"https://a.example/{recorded}", from_call=False),)}
    )
    return Tool(**dict(of), created_at=NOW, digest="0", version=number)


def test_exchanges_go_with_the_last_version_that_has_them(swept: Swept) -> None:
    old, new, proposed = tool(1, "old"), tool(2, "new"), tool(3, "never")
    with writing(swept.database) as connection:
        records.insert(connection, old, "active", None)
        versions.insert(connection, old, Provenance())
        records.replace(connection, new, "active", None)
        versions.insert(connection, new, Provenance())
        records.without(connection, proposed, (), ())  # stores its exchanges
    assert len(swept.column(schema.cassettes.c.sha256)) == 3
    swept.sweeper().remove_unused()
    with swept.database.connect() as connection:
        kept = [version.exchanges for version in versions.load_all(connection, "ask_service")]
    assert kept == [new.exchanges, old.exchanges]  # a rollback to the old one still works
    assert len(swept.column(schema.cassettes.c.sha256)) == 2
    with writing(swept.database) as connection:
        versions.withdraw(connection, "ask_service", 1)
    swept.sweeper().remove_unused()
    assert len(swept.column(schema.cassettes.c.sha256)) == 1


def test_contents_that_no_conversation_has_go(swept: Swept) -> None:
    conversation = swept.journal.create_conversation("me", "files")
    swept.insert(
        schema.contents,
        *({"sha256": name, "content": b"x"} for name in ("used", "result", "unused")),
    )
    swept.insert(
        schema.content_pieces,
        *({"sha256": n, "number": 0, "content": b"y"} for n in ("used", "unused")),
    )
    row = {"conversation_id": conversation, "reference": "{}"}
    swept.insert(schema.files, {**row, "seq": 1, "position": 0, "sha256": "used"})
    swept.insert(schema.results, {**row, "seq": 2, "turn_id": "t", "tool": "a", "sha256": "result"})
    swept.sweeper().remove_unused()
    assert swept.column(schema.contents.c.sha256) == {"used", "result"}
    assert swept.column(schema.content_pieces.c.sha256) == {"used"}


def test_copies_of_files_that_nobody_asked_for_go(swept: Swept, tmp_path: Path) -> None:
    old, new = (swept.files.take("a.txt", [bytes([n]) * LARGE, b"x"]) for n in (1, 2))
    assert old.large
    assert new.large
    past = time.time() - 7 * 3600
    os.utime(old.large.path, (past, past))
    swept.sweeper().remove_unused()
    assert [path.name for path in (tmp_path / "files").iterdir()] == [new.large.sha256]


def test_effects_go_with_the_turn_that_runs_no_longer(swept: Swept) -> None:
    conversation = swept.journal.create_conversation("me", "effects")
    runs = swept.journal.begin_turn(conversation, "a")
    swept.insert(schema.effects, *({"key": f"{t}/1", "outcome": ""} for t in (runs, uuid4().hex)))
    swept.sweeper().remove_unused()
    assert swept.column(schema.effects.c.key) == {f"{runs}/1"}


def test_links_that_ended_go(swept: Swept) -> None:
    row = {"conversation_id": swept.journal.create_conversation("me", "links"), "last_seq": 0}
    row |= {"created_at": NOW, "updated_at": NOW}
    ends = {"ended": NOW - timedelta(seconds=1), "ends": NOW + timedelta(days=1), "never": None}
    swept.insert(
        schema.shares,
        *({**row, "id": n, "token": n, "expires_at": at} for n, at in ends.items()),
    )
    swept.sweeper().remove_unused()
    assert swept.column(schema.shares.c.id) == {"ends", "never"}


def test_lessons_that_expired_long_ago_go(swept: Swept) -> None:
    row = {"agent": "coder", "trigger": "", "advice": "", "uses": 0, "helped": 0, "failed": 0}
    ages = {"old": (True, 181), "expired": (True, 179), "used": (False, 181)}
    swept.insert(
        schema.lessons,
        *(
            {
                **row,
                "id": name,
                "weight": 0.5,
                "expired": expired,
                "created_at": NOW,
                "updated_at": NOW - timedelta(days=days),
            }
            for name, (expired, days) in ages.items()
        ),
    )
    swept.sweeper().remove_unused()
    assert swept.column(schema.lessons.c.id) == {"expired", "used"}


def test_uses_of_earlier_versions_go(swept: Swept) -> None:
    with writing(swept.database) as connection:
        records.insert(connection, tool(2, "a"), "active", None)
    row = {"name": "ask_service", "call": "0"}
    swept.insert(schema.tool_uses, {**row, "version": 1}, {**row, "version": 2})
    swept.sweeper().remove_unused()
    assert swept.column(schema.tool_uses.c.version) == {2}


def test_projects_of_agents_stay_with_their_conversation(swept: Swept) -> None:
    conversation = swept.journal.create_conversation("me", "project")
    swept.sweeper().remove_unused()
    assert swept.projects == [{conversation[: retention.IN_NAME]}]


def test_a_sweep_is_done_once_in_a_fleet_and_again_when_it_is_due(swept: Swept) -> None:
    first, second = swept.sweeper(), swept.sweeper()
    first.sweep()
    swept.insert(schema.contents, {"sha256": "unused", "content": b"x"})
    second.sweep()
    assert swept.column(schema.contents.c.sha256) == {"unused"}
    assert len(swept.projects) == 2  # each machine has its own
    its = schema.properties.c.name == "retention"
    long_ago = (NOW - timedelta(hours=1)).isoformat()
    with writing(swept.database) as connection:
        connection.execute(schema.properties.update().where(its).values(value=long_ago))
    second.sweep()
    assert swept.column(schema.contents.c.sha256) == set()


def test_a_sweep_without_time_removes_nothing_and_the_next_one_goes_on(swept: Swept) -> None:
    names = [str(number) for number in range(250)]
    swept.insert(schema.contents, *({"sha256": name, "content": b"x"} for name in names))
    swept.sweeper().remove_unused(seconds=0.0)
    assert len(swept.column(schema.contents.c.sha256)) == 250
    swept.sweeper().remove_unused()
    assert swept.column(schema.contents.c.sha256) == set()
