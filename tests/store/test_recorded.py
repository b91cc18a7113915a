"""Databases that earlier versions of this program wrote, one for each version of the schema: all
that is in them is there after the migration.

Each was recorded by that version's own command line: it built a tool for "Count the vowels in
'education'" and used it for 'onomatopoeia', with the offline model. A new migration wants one more.
"""

import lzma
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.core.events import TurnFinished, TurnStarted
from selfeng.registry import records
from selfeng.store.backup import restore_backup, write_backup
from selfeng.store.database import MIGRATIONS, open_database, reading
from selfeng.store.journal import Journal

RECORDED = sorted(Path(__file__).parent.glob("recorded/*.db.xz"))
VERSIONS = sorted(path.name[:4] for path in MIGRATIONS.glob("versions/[0-9]*.py"))
ASKED = ["Count the vowels in 'education'", "Count the vowels in 'onomatopoeia'"]


def test_every_earlier_version_is_recorded() -> None:
    assert [path.name[:4] for path in RECORDED] == VERSIONS[: len(RECORDED)]
    assert len(VERSIONS) - len(RECORDED) <= 1, "record one with the version before the newest"


def _opened(path: Path, folder: Path) -> tuple[sa.Engine, int]:
    """The database, migrated, and how many events it had."""
    file = folder / "agent.db"
    file.write_bytes(lzma.decompress(path.read_bytes()))
    with sa.create_engine(f"sqlite:///{file}").connect() as before:
        events = before.exec_driver_sql("SELECT count(*) FROM events").scalar_one()
        before.engine.dispose()
    return open_database(f"sqlite:///{file}"), events


def _is_whole(database: sa.Engine, events: int) -> None:
    journal = Journal(database)
    found = [c for owner in ("person", "terminal", "local") for c in journal.conversations(owner)]
    told = {c.title: [r.event for r in journal.history(c.id)] for c in found}
    assert sorted(told) == ASKED
    assert sum(map(len, told.values())) == events, "an event can't be read"
    for request, (begun, *_, last) in told.items():
        assert isinstance(begun, TurnStarted)
        assert isinstance(last, TurnFinished)
        assert (begun.request, last.tool) == (request, "count_vowels")
    with reading(database) as connection:
        (tool,) = records.load(connection, ["count_vowels"])
    assert (tool.uses, tool.version, str(tool.signature)) == (
        2,
        1,
        "count_vowels(text: str) -> int",
    )


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name[:4])
def test_nothing_is_lost_by_the_migrations(path: Path, tmp_path: Path) -> None:
    database, events = _opened(path, tmp_path)
    _is_whole(database, events)
    database.dispose()


@pytest.mark.postgres
@pytest.mark.parametrize("path", [RECORDED[0], RECORDED[-1]], ids=lambda path: path.name[:4])
def test_it_moves_to_postgresql(path: Path, tmp_path: Path, postgres) -> None:
    database, events = _opened(path, tmp_path)
    write_backup(database, {}, tmp_path / "all.tar.gz")
    database.dispose()
    there = open_database(postgres.new())
    restore_backup(tmp_path / "all.tar.gz", there, {})
    _is_whole(there, events)
    there.dispose()
