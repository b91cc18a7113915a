"""The tool writer: adds, revises and removes whole tools, even if the process is killed in between.

A tool's record, with its sources and vector, is committed as `pending` before its first file is
written, and becomes `active` after the last one. The next start completes pending tools: their
sources were verified, and the record holds everything needed to write the files, so no work is
lost. A new version of a tool is written the same way as `revising`, and is in use from the commit
on. Removing runs in the opposite order: `removing` is committed first, then the files are deleted,
then the record; the next start completes that as well.

Every version is kept permanently, in the transaction that puts it into the record.

All of this happens under one lock per folder, so an intermediate record seen under the lock belongs
to a process that died.

SQL has the tools, and every folder of every machine has copies. A log in the folder lists
these copies, and so distinguishes a file that a person deleted or edited from one still to come.
"""

import logging
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from socket import gethostname

import sqlalchemy as sa
from filelock import FileLock, Timeout

from selfeng.core.composition import Importable
from selfeng.core.errors import LibraryError, ToolExists, ToolModified
from selfeng.core.provenance import (
    Extended,
    Provenance,
    Repaired,
    RequirementChanged,
    RolledBack,
)
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.core.tool import Standing, Tool, ToolDraft
from selfeng.library import records, versions
from selfeng.library.library_errors import (
    edits_in_the_way,
    exists,
    file_in_the_way,
    frozen,
    in_use_already,
    not_found,
    overtaken,
    unfinished,
    verify_again,
)
from selfeng.library.records import Embedding, State
from selfeng.library.tool_files import LOCK, Checkpoint, Sources, ToolFiles, code_file, tests_file
from selfeng.store.database import contents_of, fetch_value, reading, writing
from selfeng.store.schema import properties

_log = logging.getLogger(__name__)
_TAKEN: tuple[State, ...] = ("active", "pending", "revising")
_PATIENCE = 30.0
"""Seconds to wait for another process that writes a tool, which takes milliseconds."""

LOG = ".copies"
_LINE = re.compile(r"(\w+) ([0-9a-f]{64}|-)", re.ASCII)
_FOLDER = "folder "
"""The prefix of the database's properties that stand for folders."""
_SPARE = 1000
"""Lines that the log may have beyond two for each tool before it is rewritten."""


class ToolCopies:
    """Thread-safe; several processes use one folder. Write only under the library's lock.

    A log that names another database counts as none: nothing of it is touched. Entries that a crash
    leaves out of the log are added when the files are compared.
    """

    def __init__(self, folder: Path, engine: sa.Engine) -> None:
        self._path, self._engine = folder / LOG, engine
        self._lock = threading.Lock()
        self._digests: dict[str, str] = {}
        self._read: tuple[int, int] | None = None
        """Inode of the log and the bytes of it that are known."""
        self._lines = 0

    def digest(self, name: str) -> str | None:
        """The digest of the sources that were copied for a tool of that name; None if none were."""
        with self._lock:
            self._catch_up()
            return self._digests.get(name)

    @property
    def shared(self) -> bool:
        """Whether other folders have copies of the same tools."""
        folders = sa.select(sa.func.count()).where(properties.c.name.startswith(_FOLDER))
        return (fetch_value(self._engine, folders) or 0) > 1

    def register(self) -> None:
        """Let the processes of other folders know of this one."""
        place = f"{gethostname()} {self._path.resolve().parent}"
        name = _FOLDER + sha256(place.encode()).hexdigest()[:16]
        with writing(self._engine) as connection:
            stored_place = connection.scalar(
                sa.select(properties.c.value).where(properties.c.name == name)
            )
            if stored_place is None:
                connection.execute(properties.insert().values(name=name, value=place))

    def names(self) -> set[str]:
        with self._lock:
            self._catch_up()
            return set(self._digests)

    def note(self, name: str, digest: str | None) -> None:
        """A copy is in place, or is gone."""
        with self._lock:
            self._catch_up()
            if self._digests.get(name) == digest:
                return
            if self._read is None or self._lines > 2 * len(self._digests) + _SPARE:
                self._write_anew()
            with self._path.open("a") as log:
                log.write(f"\n{name} {digest or '-'}\n")  # the last line may be torn
            self._catch_up()

    def _catch_up(self) -> None:
        try:
            with self._path.open("rb") as log:
                status = os.fstat(log.fileno())
                inode, offset = self._read or (0, 0)
                if (status.st_ino, status.st_size) == (inode, offset):
                    return
                if status.st_ino != inode or status.st_size < offset:
                    self._digests, self._lines, offset = {}, 0, 0
                    if log.readline().decode("utf-8", "replace") != self._heading:
                        self._read = None
                        return
                log.seek(offset)
                content = log.read()
        except FileNotFoundError:
            self._digests, self._lines, self._read = {}, 0, None
            return
        complete_lines = content[: content.rfind(b"\n") + 1]
        self._read = status.st_ino, offset + len(complete_lines)
        for line in complete_lines.decode("utf-8", "replace").splitlines():
            if match := _LINE.fullmatch(line):
                self._lines += 1
                name, digest = match.groups()
                if digest == "-":
                    self._digests.pop(name, None)
                else:
                    self._digests[name] = digest

    def _write_anew(self) -> None:
        digests = self._digests.items() if self._read is not None else ()
        new = self._path.with_name(f"{LOG}.new")
        lines = (f"{name} {digest}\n" for name, digest in digests)
        new.write_text(self._heading + "".join(lines))
        new.replace(self._path)
        self._read = None
        self._catch_up()

    @property
    def _heading(self) -> str:
        return f"copies of {contents_of(self._engine)}\n"


class ToolWriter:
    """Blocking; any number of threads and processes may use one folder and database."""

    def __init__(self, engine: sa.Engine, files: ToolFiles, checkpoint: Checkpoint) -> None:
        self._engine = engine
        self._files = files
        self._checkpoint = checkpoint
        self._thread_lock = threading.Lock()
        self.copies = ToolCopies(files.folder, engine)

    def add(
        self,
        draft: ToolDraft,
        provenance: Provenance,
        embedding: Embedding | None,
        used: Sequence[str] = (),
    ) -> Tool:
        """Add a tool, which is found by the `used` requests, too. Existing files with the same
        content are taken over; `embedding` is None if the vector is added later.

        Raises: ToolExists, FileInTheWay, LibraryError.
        """
        with self._alone():
            self._check_free(draft.name, _sources(draft))
            if (tool := self._recorded(draft, provenance, embedding, used)) is None:
                raise self._tool_exists(draft.name)
            self._checkpoint("recorded")
            try:
                self._complete(tool)
            except OSError as error:
                with suppress(
                    OSError
                ):  # if the disk refuses this too, the next start completes the tool
                    self._delete(tool.name)
                    with writing(self._engine) as connection:
                        if records.state_of(connection, tool.name) == "pending":
                            records.delete(connection, tool.name)
                            versions.withdraw(connection, tool.name, tool.version)
                raise _unwritten(tool.name, error) from error
            return tool

    def _recorded(
        self,
        draft: ToolDraft,
        provenance: Provenance,
        embedding: Embedding | None,
        used: Sequence[str],
    ) -> Tool | None:
        """None if another machine was faster."""
        with writing(self._engine) as connection:
            if records.state_of(connection, draft.name) in _TAKEN:
                return None
            tool = Tool(
                **dict(draft.draft()),
                created_at=datetime.now(UTC),
                digest=_sources(draft).digest,
                version=versions.next_number(connection, draft.name),
            )
            records.delete(connection, tool.name)  # of a tool whose files were deleted by hand
            records.insert(connection, tool, "pending", embedding, used)
            versions.insert(connection, tool, provenance)
            return tool

    def _tool_exists(self, name: str) -> ToolExists:
        """A tool that another machine is still writing is whole in its record: it is in use from
        now on, so that who comes second can use it.
        """
        self._activate(name)
        return exists(name)

    def revise(
        self, draft: ToolDraft, provenance: Provenance, based_on: int, embedding: Embedding | None
    ) -> Tool:
        """Make the next version of a tool and replace its files; `embedding` is None if the
        searchable words are unchanged.

        A rollback also brings back a tool whose files were deleted by hand.

        Raises: ToolNotFound, ToolModified, VersionConflict, LibraryError.
        """
        with self._alone():
            self._copy([draft.name])
            try:
                self._files.stage(draft.name, _sources(draft))
                with writing(self._engine) as connection:
                    before = self._revisable(connection, draft, provenance, based_on)
                    tool = next_version(
                        before, draft, provenance, versions.next_number(connection, draft.name)
                    )
                    records.replace(connection, tool, "revising", embedding)
                    versions.insert(connection, tool, provenance)
                self._checkpoint("revised")
                self._files.place_staged(tool.name)
                self.copies.note(tool.name, tool.digest)
                self._activate(tool.name)
            except OSError as error:
                raise _unwritten(draft.name, error) from error
            return tool

    def _revisable(
        self, connection: sa.Connection, draft: ToolDraft, provenance: Provenance, based_on: int
    ) -> Tool:
        """The current tool, if it can be revised. Raises: ToolNotFound, ToolModified,
        VersionConflict, LibraryError.
        """
        before, state = (
            next(records.load(connection, [draft.name]), None),
            records.state_of(connection, draft.name),
        )
        back = isinstance(provenance.origin, RolledBack)
        automatic = isinstance(provenance.origin, Repaired | RequirementChanged | Extended)
        if before is None or state not in ("active", "revising", *(["missing"] if back else [])):
            raise not_found(draft.name)
        if before.version != based_on:
            raise overtaken(draft.name, based_on, before.version)
        if before.frozen and automatic:
            raise frozen(draft.name, before.version)
        if state == "revising":
            raise unfinished(draft.name, before.version)
        if back and state == "active" and before.draft() == draft.draft():
            raise in_use_already(draft.name, before.version)
        for file, text in (
            (code_file(before.name), before.code),
            (tests_file(before.name), before.tests),
        ):
            if self._files.content(file) not in (None, text.encode("utf-8")):
                raise edits_in_the_way(before.name, file)
        return before

    def check(self, name: str, sources: Sources) -> None:
        """Check whether `add` would accept these sources. Raises: ToolExists, FileInTheWay,
        LibraryError.
        """
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

    def accept(self, draft: ToolDraft, provenance: Provenance) -> None:
        """Raises: ToolNotFound, ToolModified, LibraryError."""
        name = draft.name
        with self._alone(), writing(self._engine) as connection:
            if records.state_of(connection, name) != "active":
                raise not_found(name)
            if self._files.read(name) != _sources(draft):
                raise ToolModified(
                    f"the files of {name} have changed since they were verified",
                    verify_again(name),
                    name=name,
                )
            (before,) = records.load(connection, [name])
            tool = next_version(before, draft, provenance, versions.next_number(connection, name))
            records.replace(connection, tool, "active", None)
            versions.insert(connection, tool, provenance)
            self.copies.note(name, tool.digest)

    def recover(self) -> None:
        """Complete the changes that killed processes began. Raises: LibraryError."""
        with self._alone():
            self._files.prepare()
            self.copies.register()
            with reading(self._engine) as connection:
                began = records.unfinished(connection)
                tools = {t.name: t for t in records.load(connection, list(began))}
            for name, state in began.items():
                try:
                    if state == "removing":
                        self._take_away(name)
                    else:
                        self._complete(tools[name])
                except OSError:
                    _log.exception("the tool %s stays %s until the next start", name, state)

    def settle(self, names: Collection[str]) -> None:
        """Copy those of these tools that were added, revised or removed elsewhere, and record which
        of them had files deleted by hand, and which had them restored. Raises: LibraryError.
        """
        with self._alone():
            self._copy(names)
            with writing(self._engine) as connection:
                for name, entry in records.entries(connection, list(names)).items():
                    present = self._files.stamps(name)[0] is not None
                    if entry.state == "active" and not present and self.copies.digest(name):
                        records.set_state(connection, name, "missing")
                        self.copies.note(name, None)
                    elif entry.state == "missing" and present:
                        sources = self._files.read(name)
                        if sources is not None and sources.digest == records.digests(
                            connection, [name], "missing"
                        ).get(name):
                            records.set_state(connection, name, "active")
                            self.copies.note(name, sources.digest)

    def _copy(self, names: Collection[str]) -> None:
        """Let the folder have these tools as SQL has them; files that a person has put there, or
        edited, stay.
        """
        with reading(self._engine) as connection:
            entries = records.entries(connection, list(names))
            tools = {tool.name: tool for tool in records.load(connection, list(names))}
        for name in names:
            copied, state = (
                self.copies.digest(name),
                entries[name].state if name in entries else None,
            )
            sources = self._files.read(name)
            digest = sources.digest if sources else None
            try:
                if state is None:
                    if copied and digest == copied:
                        self._files.delete(name)
                    self.copies.note(name, None)
                elif state == "active" and digest == tools[name].digest:
                    self.copies.note(name, digest)
                elif state == "active" and (
                    self._is_to_come(name, copied, digest) or self._is_lost(tools[name])
                ):
                    self._files.place(name, _sources(tools[name]))
                    self.copies.note(name, tools[name].digest)
            except OSError as error:
                _log.warning("the files of %s can't be copied from SQL: %s", name, error)

    def _is_to_come(self, name: str, copied: str | None, digest: str | None) -> bool:
        """Whether the folder has nothing of a tool yet, or an older copy that was not edited."""
        return self._files.stamps(name) == (None, None) if copied is None else digest == copied

    def _is_lost(self, tool: Tool) -> bool:
        """Whether the code is gone from one of several folders, whatever took it: what one machine
        has lost must not be taken from the others.
        """
        code, tests = map(self._files.content, (code_file(tool.name), tests_file(tool.name)))
        return code is None and tests in (None, tool.tests.encode()) and self.copies.shared

    def _complete(self, tool: Tool) -> None:
        self._files.place(tool.name, _sources(tool))
        self.copies.note(tool.name, tool.digest)
        self._activate(tool.name)

    def _activate(self, name: str) -> None:
        with writing(self._engine) as connection:
            if records.state_of(connection, name) in ("pending", "revising"):  # nobody was faster
                records.set_state(connection, name, "active")
        self._checkpoint("active")

    def _delete(self, name: str) -> None:
        self._files.delete(name)
        self.copies.note(name, None)

    def _take_away(self, name: str) -> None:
        self._delete(name)
        with writing(self._engine) as connection:
            if records.state_of(connection, name) == "removing":  # not added again elsewhere
                records.delete(connection, name)
        self._checkpoint("removed")

    def _check_free(self, name: str, sources: Sources) -> None:
        with reading(self._engine) as connection:
            state = records.state_of(connection, name)
            previous = next(records.load(connection, [name]), None)
        if state in _TAKEN:
            raise self._tool_exists(name)
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
                    f"another process has held {lock.lock_file} for {_PATIENCE:g} seconds",
                    "end it and try again",
                ) from error
            try:
                yield
            finally:
                lock.release()


def edited(tool: Tool, sources: Sources, tools: Iterable[Tool]) -> ToolDraft:
    """The tool as its files define it now, with its imports among `tools`. Raises: ToolModified if
    they no longer define it.
    """
    described = {p.name: p.description for p in tool.signature.parameters}
    try:
        signature = parse_signature(sources.code, tool.name, described)
    except SignatureError as error:
        raise ToolModified(str(error), "correct the file, or restore what was verified") from error
    importable = Importable(tools)
    return tool.draft().model_copy(
        update={
            "code": sources.code,
            "tests": sources.tests,
            "signature": signature,
            "requires": importable.requires(sources.code),
            "lock": importable.lock(sources.code, tool.lock),
            "witnesses": (),
        }
    )


def _sources(draft: ToolDraft) -> Sources:
    return Sources(code=draft.code, tests=draft.tests)


def next_version(before: Tool, draft: ToolDraft, provenance: Provenance, number: int) -> Tool:
    """The tool's next version: provisional like a new tool, unless it is retired and only its
    imports have changed.

    Fields that the draft lacks stay unchanged.
    """
    retired = before.standing == "retired" and isinstance(provenance.origin, RequirementChanged)
    standing: Standing = "retired" if retired else "provisional"
    new_fields = {"digest": _sources(draft).digest, "version": number, "standing": standing}
    new_fields |= {} if retired else {"merged_into": ""}
    return before.model_copy(update={**dict(draft.draft()), **new_fields})


def _unwritten(name: str, error: OSError) -> LibraryError:
    return LibraryError(
        f"the files of {name} can't be written: {error}",
        "check that the tools folder can be written, and that its disk has space",
    )
