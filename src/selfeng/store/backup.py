"""A backup of everything that can't be made again: one `.tar.gz` with the database, as SQLite
whatever it is kept in, the tools and the projects.

All functions block: call them in a thread.
"""

import gzip
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from filelock import ReadWriteLock, Timeout

from selfeng.core.errors import AgentError
from selfeng.core.files import MB
from selfeng.core.private import make_file_private
from selfeng.core.visible import one_line
from selfeng.store.database import open_database, reading, writing
from selfeng.store.schema import content_pieces, effects, metadata, properties, tool_words, turns

DATABASE = "database.db"
"""Name of the database in a backup; the rest of it are folders."""
MOST_ENTRIES, MOST_TIMES, _SMALL = 250_000, 200, 64 * MB
"""Files and folders that a backup may have, and how many times its size, beyond 64 MB, it may
unpack to. A database of repeated text shrinks to a thirtieth; zeros shrink to a thousandth.
"""
_IN_USE = ".in-use"
_BATCH, _PIECES = 500, 16  # rows


class BackupError(AgentError):
    """A backup can't be written or restored."""


def write_backup(database: sa.Engine, folders: Mapping[str, Path], target: Path) -> int:
    """Write the database as it is at one moment, and then the folders under these names; the file
    is replaced at the end, readable by its owner alone. Servers may run meanwhile. Returns its
    bytes.

    Raises: BackupError: it can't be written.
    """
    try:
        with tempfile.TemporaryDirectory(
            dir=target.absolute().parent, prefix=".backup-"
        ) as scratch:
            copy_database(database, Path(scratch, DATABASE))
            archive_path = Path(scratch, "made")
            make_file_private(archive_path)
            with tarfile.open(archive_path, "w:gz") as archive:
                archive.add(Path(scratch, DATABASE), DATABASE)
                for name, folder in folders.items():
                    if folder.is_dir():
                        archive.add(folder, name, filter=_archive_filter)
            os.replace(archive_path, target)
    except OSError as error:
        raise BackupError(
            f"{target} can't be written: {error}", "name a file in a folder with enough room"
        ) from error
    return target.stat().st_size


def restore_backup(
    source: Path, database: sa.Engine, folders: Mapping[str, Path]
) -> dict[str, int]:
    """Replace the database's rows, in one transaction, and the contents of the folders by those of
    a backup, also of an older release. Returns the number of rows by table.

    Raises:
        BackupError: the file is not a backup, or can't be read.
        DatabaseUnavailable: it is of a newer version, or from before the first release.
    """
    with tempfile.TemporaryDirectory(dir=_near(folders), prefix=".restore-") as scratch:
        _unpack(source, Path(scratch))
        backup = open_database(f"sqlite:///{Path(scratch, DATABASE)}")
        try:
            counts = _copy_rows(backup, database, restored=True)
        finally:
            backup.dispose()
        for name, folder in folders.items():
            _replace(Path(scratch, name), folder)
    return counts


@contextmanager
def in_use(data_dir: Path, *, alone: bool = False) -> Iterator[None]:
    """Mark the data as used by this process, or make sure that no other does.

    Raises: BackupError: `alone`, and another process uses them.
    """
    mark = ReadWriteLock(data_dir / _IN_USE, is_singleton=False)
    try:
        (mark.acquire_write if alone else mark.acquire_read)(blocking=False)
    except (Timeout, OSError, sqlite3.Error) as error:
        raise BackupError(
            f"another process uses {data_dir}" if alone else f"{data_dir} is being restored",
            "end the server and its commands, then try again" if alone else "try again later",
        ) from error
    try:
        yield
    finally:
        mark.close()


def _archive_filter(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Locks, caches and what is neither file nor folder stay out."""
    left_out = ("__pycache__", ".pytest_cache")
    name = Path(entry.name).name
    is_included = (entry.isfile() or entry.isdir()) and not name.endswith(".lock")
    return entry if is_included and name not in left_out else None


def copy_database(database: sa.Engine, target: Path) -> None:
    """Write the database as it is at one moment to a new SQLite file."""
    if database.dialect.name == "sqlite":
        with reading(database) as connection:
            connection.connection.execute("VACUUM INTO ?", (str(target),))
        return
    copy = open_database(f"sqlite:///{target}")
    try:
        _copy_rows(database, copy)
        with copy.connect() as connection:  # so that one file has it all
            connection.connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.dispose()


def _copy_rows(source: sa.Engine, target: sa.Engine, *, restored: bool = False) -> dict[str, int]:
    """Replace all rows of `target`, in one transaction, by those of `source` at one moment.

    `restored`: mark the contents as restored, see `contents_of`. No process resumes a turn that ran
    when they were backed up: its steps and effects are not in them.
    """
    tables, counts = metadata.sorted_tables, {}
    with reading(source) as source_connection, writing(target) as target_connection:
        for table in reversed(tables):
            target_connection.execute(table.delete())
        for table in tables:
            batch = _BATCH if table is not content_pieces else _PIECES
            result = source_connection.execution_options(yield_per=batch).execute(sa.select(table))
            counts[table.name] = 0
            for rows in result.mappings().partitions():
                target_connection.execute(table.insert(), [dict(row) for row in rows])
                counts[table.name] += len(rows)
        if restored:
            mark = properties.c.name
            target_connection.execute(
                properties.delete().where((mark == "restored") | mark.startswith("folder "))
            )
            target_connection.execute(
                properties.insert().values(name="restored", value=uuid4().hex)
            )
            target_connection.execute(turns.update().values(given=None, server=None))
            target_connection.execute(effects.delete())
        if target.dialect.name == "postgresql":
            newest = sa.select(sa.func.coalesce(sa.func.max(tool_words.c.id), 0) + 1)
            sequence = sa.func.pg_get_serial_sequence(tool_words.name, "id")
            target_connection.execute(
                sa.select(sa.func.setval(sequence, newest.scalar_subquery(), False))
            )
    return counts


class _Unzipped(gzip.GzipFile):
    """Unpacks no more than a backup of its size has, and than is free on the disk."""

    def __init__(self, source: Path, folder: Path) -> None:
        super().__init__(source)
        largest = _SMALL + MOST_TIMES * source.stat().st_size
        self._remaining = min(largest, shutil.disk_usage(folder).free)

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        self._remaining -= len(content)
        if self._remaining < 0:
            raise ValueError("it unpacks to more than a backup of its size has, or this disk")
        return content


def _unpack(source: Path, folder: Path) -> None:
    try:
        with (
            _Unzipped(source, folder) as content,
            tarfile.open(fileobj=content, mode="r|") as archive,
        ):
            for number, entry in enumerate(archive, 1):
                if not (entry.isfile() or entry.isdir()):
                    raise ValueError(f"{one_line(entry.name)} is a link or another special file")
                if number > MOST_ENTRIES:
                    raise ValueError(f"it has more than {MOST_ENTRIES:,} files and folders")
                archive.extract(entry, folder, filter="data")
    except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError) as error:
        raise BackupError(
            f"{source} can't be read: {error}", "name a file that `selfeng backup` wrote"
        ) from error
    if not (folder / DATABASE).is_file():
        raise BackupError(f"{source} has no {DATABASE}", "name a file that `selfeng backup` wrote")


def _replace(source: Path, target: Path) -> None:
    """Replace what is in a folder by what is in another, file by file."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in target.iterdir():
        if not entry.name.endswith(".lock"):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for entry in source.iterdir() if source.is_dir() else ():
        shutil.move(entry, target / entry.name)


def _near(folders: Mapping[str, Path]) -> Path | None:
    """Where files can be moved from without a copy."""
    return next((folder.absolute().parent for folder in folders.values()), None)
