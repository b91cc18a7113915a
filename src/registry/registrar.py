"""The registrar: adds and removes whole tools, whatever kills the process in between.

A tool's record, with its sources and vector, is committed as `pending` before its first file is written, and becomes
`active` after the last one. Whoever starts next completes what is pending: the sources were verified, and all that is
needed to write the files stands in the record, so nothing that was earned is thrown away. Removing runs the other way
round: `removing` is committed first, files go next, the record last; the next start completes that as well.

All of this happens under one lock per folder, so a pending record seen under the lock belongs to a process that died.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from filelock import FileLock, Timeout

from src.core.errors import FileInTheWay, LibraryError, ToolExists, ToolModified, ToolNotFound
from src.core.signature import SignatureError, parse_signature
from src.core.tool import Tool, ToolDraft
from src.registry import records
from src.registry.files import LOCK, Checkpoint, ToolFiles, code_file, tests_file
from src.registry.records import Vector
from src.registry.sources import Sources
from src.store.database import reading, writing

_log = logging.getLogger(__name__)
_PATIENCE = 30.0
"""Seconds to wait for another process that writes a tool, which takes it some milliseconds."""


class Registrar:
    """Blocking; any number of threads and processes may use one folder and database."""

    def __init__(self, engine: sa.Engine, files: ToolFiles, checkpoint: Checkpoint) -> None:
        self._engine = engine
        self._files = files
        self._checkpoint = checkpoint
        self._thread_lock = threading.Lock()

    def add(self, tool: Tool, embedder: str, vector: Vector) -> None:
        """Files that are there already and say the same are taken for the tool's. Raises: ToolExists, FileInTheWay, LibraryError."""
        with self._alone():
            self._check_free(tool.name, Sources(code=tool.code, tests=tool.tests))
            with writing(self._engine) as connection:
                records.delete(connection, tool.name)  # of a tool whose files were deleted by hand
                records.insert(connection, tool, "pending", embedder, vector)
            self._checkpoint("recorded")
            try:
                self._complete(tool)
            except OSError as error:
                with suppress(OSError):  # if the disk refuses this too, the next start completes the tool
                    self._take_away(tool.name)
                raise LibraryError(f"the files of {tool.name} can't be written: {error}", "see to the folder of the tools") from error

    def check(self, name: str, sources: Sources) -> None:
        """Whether `add` would take these. Raises: ToolExists, FileInTheWay, LibraryError."""
        with self._alone():
            self._check_free(name, sources)

    def remove(self, name: str) -> None:
        """Raises: ToolNotFound, LibraryError."""
        with self._alone():
            with writing(self._engine) as connection:
                if records.state_of(connection, name) != "active":
                    raise not_found(name)
                records.set_state(connection, name, "removing")
            self._checkpoint("removing")
            self._take_away(name)

    def accept(self, name: str, sources: Sources) -> None:
        """Raises: ToolNotFound, ToolModified, LibraryError."""
        with self._alone(), writing(self._engine) as connection:
            if records.state_of(connection, name) != "active":
                raise not_found(name)
            if self._files.read(name) != sources:
                raise ToolModified(f"the files of {name} have changed since they were verified", verify_again(name))
            (tool,) = records.load(connection, [name])
            records.replace_sources(connection, name, sources, edited(tool, sources).signature)

    def recover(self) -> None:
        """Complete what killed processes began. Raises: LibraryError."""
        with self._alone():
            self._files.prepare()
            with reading(self._engine) as connection:
                began = [e for e in records.entries(connection) if e.state in ("pending", "removing")]
                tools = {t.name: t for t in records.load(connection, [e.name for e in began])}
            for entry in began:
                try:
                    if entry.state == "pending":
                        self._complete(tools[entry.name])
                    else:
                        self._take_away(entry.name)
                except OSError:
                    _log.exception("the tool %s stays %s until the next start", entry.name, entry.state)

    def settle(self) -> None:
        """Write down which tools lost their files by hand, and which got them back. Raises: LibraryError."""
        with self._alone(), writing(self._engine) as connection:
            present = self._files.survey()
            for entry in records.entries(connection):
                if entry.state == "active" and code_file(entry.name) not in present:
                    records.set_state(connection, entry.name, "missing")
                elif entry.state == "missing" and code_file(entry.name) in present:
                    sources = self._files.read(entry.name)
                    if sources is not None and sources.digest == entry.digest:
                        records.set_state(connection, entry.name, "active")

    def _complete(self, tool: Tool) -> None:
        self._files.place(tool.name, Sources(code=tool.code, tests=tool.tests))
        with writing(self._engine) as connection:
            records.set_state(connection, tool.name, "active")
        self._checkpoint("active")

    def _take_away(self, name: str) -> None:
        self._files.delete(name)
        self._forget(name)
        self._checkpoint("removed")

    def _forget(self, name: str) -> None:
        with writing(self._engine) as connection:
            records.delete(connection, name)

    def _check_free(self, name: str, sources: Sources) -> None:
        with reading(self._engine) as connection:
            state = records.state_of(connection, name)
            previous = next(records.load(connection, [name]), None)
        if state in ("active", "pending"):
            raise exists(name)
        code, tests = self._files.content(code_file(name)), self._files.content(tests_file(name))
        if previous is not None and code is None and tests == previous.tests.encode("utf-8"):
            return  # what we wrote for a tool whose code was deleted by hand
        if code not in (None, sources.code.encode("utf-8")):
            raise file_in_the_way(self._files.folder, code_file(name))
        if tests not in (None, sources.tests.encode("utf-8")):
            raise file_in_the_way(self._files.folder, tests_file(name))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._thread_lock:
            self._files.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._files.folder / LOCK)
            try:
                lock.acquire(timeout=_PATIENCE)
            except Timeout as error:
                raise LibraryError(
                    f"another process has held {lock.lock_file} for {_PATIENCE:g} seconds", "end it and try again"
                ) from error
            try:
                yield
            finally:
                lock.release()


def edited(tool: Tool, sources: Sources) -> ToolDraft:
    """The tool as its files have it now. Raises: ToolModified if they don't define it any more."""
    described = {p.name: p.description for p in tool.signature.parameters}
    try:
        signature = parse_signature(sources.code, tool.name, described)
    except SignatureError as error:
        raise ToolModified(str(error), "correct the file, or restore what was verified") from error
    draft = ToolDraft(**tool.model_dump(include=set(ToolDraft.model_fields)))
    return draft.model_copy(update={"code": sources.code, "tests": sources.tests, "signature": signature})


def exists(name: str) -> ToolExists:
    return ToolExists(f"a tool named {name} is registered already", "choose another name, or remove the tool first")


def file_in_the_way(folder: Path, file: str) -> FileInTheWay:
    return FileInTheWay(f"{folder / file} is in the way: no record of the library knows it", "move the file away, or choose another name")


def not_found(name: str) -> ToolNotFound:
    return ToolNotFound(f"no tool named {name} is registered", "`python -m src tools` lists those that are")


def half(name: str, missing: str) -> ToolNotFound | ToolModified:
    """Without its code, a tool is gone; without its tests, it is not what was verified."""
    kind = ToolNotFound if missing == code_file(name) else ToolModified
    return kind(f"the file {missing} of the tool {name} is missing", complete(name, missing))


def complete(name: str, missing: str) -> str:
    left = tests_file(name) if missing == code_file(name) else code_file(name)
    return f"restore it, or delete {left} as well"


def verify_again(name: str) -> str:
    return f"restore the file, or run `python -m src verify {name}`"
