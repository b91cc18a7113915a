"""A backup: everything is in it, it is restored whole or not at all, on either database."""

import gzip
import io
import os
import re
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import DatabaseUnavailable
from selfeng.core.events import AnswerToken
from selfeng.store import backup as backup_module
from selfeng.store.backup import DATABASE, BackupError, in_use, restore_backup, write_backup
from selfeng.store.database import id_of, open_database, reading, writing
from selfeng.store.effects import known_effect, note_effect
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.turn_queue import QueueLimits, TurnQueue
from tests.embedding.hashing import HashingEmbedder
from tests.registry.drafts import REVERSE


def _fill(database: sa.Engine) -> str:
    journal = Journal(database)
    conversation = journal.create_conversation("me", "The first")
    turn = journal.begin_turn(conversation, "Say it")
    said = AnswerToken(text="it, with a \x00 and ünïcode")
    journal.append([JournalEntry(conversation, turn, datetime.now(UTC), said)])
    return conversation


async def _library(database: sa.Engine, root: Path) -> CapabilityRegistry:
    library = CapabilityRegistry(database, root / "tools", root / "chroma", HashingEmbedder())
    await library.start()
    return library


async def test_what_was_backed_up_is_there_again(new_database, tmp_path: Path) -> None:
    database, folders = new_database(), {n: tmp_path / n for n in ("tools", "projects")}
    conversation = _fill(database)
    library = await _library(database, tmp_path)
    await library.add(REVERSE)
    await library.aclose()
    (folders["projects"] / "sales").mkdir(parents=True)
    (folders["projects"] / "sales" / "main.py").write_text("print(1)\n")
    backup = tmp_path / "all.tar.gz"
    assert write_backup(database, folders, backup) == backup.stat().st_size
    assert backup.stat().st_mode & 0o077 == 0

    other, there = new_database(), tmp_path / "other"
    former = _fill(other)
    taken = {name: there / name for name in folders}
    taken["projects"].mkdir(parents=True)
    (taken["projects"] / "old.txt").write_text("gone")
    counts = restore_backup(backup, other, taken)
    assert (counts["conversations"], counts["tools"]) == (1, 1)
    journal = Journal(other)
    assert [c.id for c in journal.conversations("me")] == [conversation] != [former]
    assert journal.history(conversation) == Journal(database).history(conversation)
    assert (taken["projects"] / "sales" / "main.py").read_text() == "print(1)\n"
    assert not (taken["projects"] / "old.txt").exists()
    assert id_of(other) == id_of(database)
    again = await _library(other, there)
    assert (await again.get("reverse_text")).code == REVERSE.code
    assert [c.tool.name for c in await again.search("spell it backwards", 1)] == ["reverse_text"]
    await again.add(REVERSE.model_copy(update={"name": "mirrored"}))  # ids of words go on
    await again.aclose()


def test_a_turn_that_ran_when_it_was_backed_up_ends_and_is_not_begun_again(
    new_database, tmp_path: Path
) -> None:
    database, other, backup = new_database(), new_database(), tmp_path / "all.tar.gz"
    journal = Journal(database)
    conversation = journal.create_conversation("me", "It runs")
    turn = journal.begin_turn(conversation, "Say it", given="{}")
    with writing(database) as connection:
        note_effect(connection, f"{turn} 1 library.record_use")
    write_backup(database, {}, backup)
    assert restore_backup(backup, other, {})["effects"] == 1
    restored = Journal(other)
    restored.release_lost()
    assert TurnQueue(other, lambda: QueueLimits(9, 9, 9)).claim(9, others=True) == []
    (ended,) = restored.stop_abandoned_turns()
    assert (ended.turn_id, ended.event.type) == (turn, "turn_stopped")
    with reading(other) as connection:
        assert known_effect(connection, f"{turn} 1 library.record_use") is None


@pytest.mark.postgres
def test_a_backup_of_sqlite_is_restored_to_postgresql_and_back(postgres, tmp_path: Path) -> None:
    ours = open_database(f"sqlite:///{tmp_path / 'ours.db'}")
    theirs = open_database(postgres.new())
    conversation = _fill(ours)
    there, back = tmp_path / "there.tar.gz", tmp_path / "back.tar.gz"
    write_backup(ours, {}, there)
    restore_backup(there, theirs, {})
    write_backup(theirs, {}, back)
    before = Journal(ours).history(conversation)
    restore_backup(back, ours, {})
    assert Journal(ours).history(conversation) == Journal(theirs).history(conversation) == before
    ours.dispose()
    theirs.dispose()


@pytest.mark.parametrize("content", [b"", b"not a backup", None])
def test_what_is_no_backup_changes_nothing(tmp_path: Path, content: bytes | None) -> None:
    database, tools = open_database(f"sqlite:///{tmp_path / 'a.db'}"), tmp_path / "tools"
    conversation = _fill(database)
    tools.mkdir()
    (tools / "kept.py").touch()
    backup = tmp_path / "backup.tar.gz"
    if content is None:
        with tarfile.open(backup, "w:gz") as archive:
            archive.add(tools, "tools")
    else:
        backup.write_bytes(content)
    with pytest.raises(BackupError, match=r"backup\.tar\.gz") as caught:
        restore_backup(backup, database, {"tools": tools})
    assert caught.value.remedy == "name a file that `selfeng backup` wrote"
    assert [c.id for c in Journal(database).conversations("me")] == [conversation]
    assert (tools / "kept.py").exists()
    database.dispose()


def test_a_backup_that_reaches_outside_is_refused(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    backup, secret = tmp_path / "backup.tar.gz", tmp_path / "secret"
    secret.write_text("mine")
    with tarfile.open(backup, "w:gz") as archive:
        archive.add(secret, "../../escaped")
    with pytest.raises(BackupError, match="can't be read"):
        restore_backup(backup, database, {"tools": tmp_path / "tools"})
    assert not (tmp_path.parent / "escaped").exists()
    database.dispose()


def _entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


def _bomb(size: int) -> tarfile.TarInfo:
    entry = _entry("tools/zeros")
    entry.size = size
    return entry


def _described_at_length(size: int) -> tarfile.TarInfo:
    entry = _entry("tools/x")
    entry.pax_headers = {"comment": "0" * size}
    return entry


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (_entry("tools/out", tarfile.SYMTYPE, "/etc/passwd"), "tools/out is a link"),
        (_entry("tools/out", tarfile.SYMTYPE, "../../secret"), "tools/out is a link"),
        (_entry("tools/out", tarfile.LNKTYPE, "/etc/passwd"), "tools/out is a link"),
        (_entry("tools/pipe", tarfile.FIFOTYPE), "tools/pipe is a link or another special file"),
        (_entry("tools/disk", tarfile.BLKTYPE), "tools/disk is a link or another special file"),
        (_bomb(100_000_000), "it unpacks to more than a backup of its size has"),
        (_described_at_length(100_000_000), "it unpacks to more than a backup of its size has"),
    ],
)
def test_a_backup_with_links_or_without_end_changes_nothing(
    tmp_path: Path, entry: tarfile.TarInfo, problem: str
) -> None:
    database, tools = open_database(f"sqlite:///{tmp_path / 'a.db'}"), tmp_path / "tools"
    conversation, backup = _fill(database), tmp_path / "backup.tar.gz"
    tools.mkdir()
    (tools / "kept.py").touch()
    with gzip.open(backup, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(b"0" * entry.size))
        archive.addfile(_entry("tools/after"))
    with pytest.raises(BackupError, match=re.escape(f"{backup} can't be read: {problem}")):
        restore_backup(backup, database, {"tools": tools})
    assert [c.id for c in Journal(database).conversations("me")] == [conversation]
    assert [path.name for path in tools.iterdir()] == ["kept.py"]
    assert not list(tmp_path.glob(".restore-*"))
    database.dispose()


def test_a_backup_with_more_files_than_anybody_has_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_module, "MOST_ENTRIES", 3)
    database, backup = open_database(f"sqlite:///{tmp_path / 'a.db'}"), tmp_path / "b.tar.gz"
    with tarfile.open(backup, "w:gz") as archive:
        for number in range(4):
            archive.addfile(_entry(f"tools/{number}"))
    with pytest.raises(BackupError, match="it has more than 3 files and folders"):
        restore_backup(backup, database, {})
    database.dispose()


def test_a_backup_from_before_the_first_release_is_refused_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    old = open_database(f"sqlite:///{tmp_path / DATABASE}")
    with writing(old) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0035'")
    write_backup(old, {}, tmp_path / "old.tar.gz")
    old.dispose()
    database = open_database(f"sqlite:///{tmp_path / 'new.db'}")
    before = id_of(database)
    with pytest.raises(DatabaseUnavailable, match="'0035'"):
        restore_backup(tmp_path / "old.tar.gz", database, {})
    assert id_of(database) == before
    database.dispose()


def test_a_backup_that_can_not_be_written_leaves_the_former_one(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    with pytest.raises(BackupError, match="can't be written") as caught:
        write_backup(database, {}, tmp_path / "missing" / "b.tar.gz")
    assert caught.value.remedy == "name a file in a folder with enough room"
    target = tmp_path / "b.tar.gz"
    write_backup(database, {}, target)
    before = target.read_bytes()
    os.mkfifo(tmp_path / "pipe")
    write_backup(database, {"odd": tmp_path}, tmp_path / "c.tar.gz")  # a pipe is left out
    assert target.read_bytes() == before
    database.dispose()


def test_data_in_use_are_not_restored_and_the_other_way_round(tmp_path: Path) -> None:
    with (
        in_use(tmp_path),
        in_use(tmp_path),
        pytest.raises(BackupError, match="another process uses"),
        in_use(tmp_path, alone=True),
    ):
        pass
    with (
        in_use(tmp_path, alone=True),
        pytest.raises(BackupError, match="is being restored"),
        in_use(tmp_path),
    ):
        pass
