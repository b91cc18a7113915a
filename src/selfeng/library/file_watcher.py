"""The file watcher: compares records and files, keeps the snapshot current and reports changes.

A look is cheap whatever the size of the library, so it precedes every answer: one query tells which
records have changed since the last look, and the folder's time tells whether files were added or
removed. An edit in place shows only in the file itself; so the watcher also compares the files of
the tools that an answer is about, and of those already found modified, with the verified sources.
"""

import logging
import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import sqlalchemy as sa

from selfeng.library import records, revisions
from selfeng.library.library_snapshot import EMPTY, LibraryChange, LibrarySnapshot, development
from selfeng.library.records import ToolEntry
from selfeng.library.tool_files import FolderListing, Pair, ToolFiles, code_file, owner
from selfeng.library.tool_writer import ToolWriter
from selfeng.store.database import reading

_log = logging.getLogger(__name__)
_ROUNDS = 3
"""Attempts to compare files with a record if both change meanwhile."""


class FileWatcher:
    """Blocking and thread-safe."""

    def __init__(self, engine: sa.Engine, files: ToolFiles, writer: ToolWriter) -> None:
        self._engine = engine
        self._files = files
        self._writer, self._copies = writer, writer.copies
        self._listing = FolderListing(files.folder)
        self._lock = threading.Lock()
        self.snapshot = EMPTY
        """As of the last look."""
        self.changes: deque[LibraryChange] = deque()
        """Changes that are not reported yet; the reporter removes them."""
        self._verified: dict[str, tuple[Pair, int, bool]] = {}
        """For each tool looked at: the stamps of its files, its version, and whether the files
        match that version.
        """
        self._refused: dict[str, Pair] = {}
        """Files that replace deleted ones but have other contents."""
        self._blocking_files: dict[str, tuple[str, Pair]] = {}
        """Files in the way of a tool, with the digest of the version that they keep out."""
        self._began = False
        self._removed_elsewhere: set[str] = set()
        """Tools that were removed elsewhere while this folder was not watched."""

    def begin(self) -> None:
        """Take the current records as known: only later changes are reported."""
        self.snapshot, _ = self._read(EMPTY)
        self._removed_elsewhere = self._copies.names() - self.snapshot.entries.keys()

    def look(self, names: Iterable[str] = ()) -> LibrarySnapshot:
        """Bring the snapshot up to date. It is accurate about which files exist, and about the
        contents of the named tools' files.

        Raises: LibraryError.
        """
        with self._lock:
            before = self.snapshot
            snapshot, touched = self._read(before)
            names, removed_names = set(names), self._removed_elsewhere
            self._removed_elsewhere = set()
            unsettled = self._unsettled(snapshot, touched)
            if unsettled := unsettled | removed_names | self._outdated(snapshot, touched | names):
                self._writer.settle(unsettled)
                self._keep(unsettled)
                snapshot, more = self._read(snapshot)
                touched |= more
                self._refused = {
                    n: self._files.stamps(n)
                    for n in unsettled | self._refused.keys()
                    if self._is_unsettled(snapshot, n)
                }
            compared = {name for name in {*names, *touched, *snapshot.modified} if name in snapshot}
            self.snapshot = self._compare(snapshot, compared)
            for name in sorted(touched | compared):
                if change := development(name, before, self.snapshot):
                    _log.info("%s: %s (%s)", change.name, change.change, change.reason)
                    self.changes.append(change)
            return self.snapshot

    def _read(self, snapshot: LibrarySnapshot) -> tuple[LibrarySnapshot, set[str]]:
        """The snapshot of the current records and folder, and the names of the tools for which
        either has changed.
        """
        files, names = self._listing.look(), list[str]()
        with reading(self._engine) as connection:
            revision, entries = revisions.current(connection), snapshot.entries
            if snapshot is EMPTY:
                entries = records.entries(connection)
            elif revision != snapshot.revision and (
                names := revisions.changed(connection, snapshot.revision)
            ):
                entries = _updated(entries, names, records.entries(connection, names))
        moved = (
            set() if files is snapshot.files else {owner(file) for file in files ^ snapshot.files}
        )
        if entries is snapshot.entries and not moved:
            return (
                snapshot if revision == snapshot.revision else replace(snapshot, revision=revision)
            ), set()
        return LibrarySnapshot(entries, files, snapshot.modified, revision), moved.union(names)

    def _unsettled(self, snapshot: LibrarySnapshot, touched: set[str]) -> set[str]:
        """Tools with files that were deleted or may have been restored."""
        names = touched | self._refused.keys() if self._began else snapshot.entries.keys()
        self._began = True
        return {
            n
            for n in names
            if self._is_unsettled(snapshot, n) and self._refused.get(n) != self._files.stamps(n)
        }

    def _outdated(self, snapshot: LibrarySnapshot, names: set[str]) -> set[str]:
        """Those of the tools that SQL has in another version than the folder, or not at all; those
        that could not be copied are left out until something changes.
        """
        removed = {n for n in names if n not in snapshot.entries and self._copies.digest(n)}
        active = [n for n in names if n in snapshot and not self._is_verified(snapshot, n)]
        if not active:
            return removed
        with reading(self._engine) as connection:
            digests = records.digests(connection, active)
        return removed | {
            name
            for name, digest in digests.items()
            if self._copies.digest(name) != digest
            and self._blocking_files.get(name) != (digest, self._files.stamps(name))
        }

    def _keep(self, names: Collection[str]) -> None:
        """Note which of the tools were not copied, because of files that are not ours."""
        with reading(self._engine) as connection:
            digests = records.digests(connection, list(names))
        for name in names:
            if name in digests and self._copies.digest(name) != digests[name]:
                self._blocking_files[name] = digests[name], self._files.stamps(name)
            else:
                self._blocking_files.pop(name, None)

    def _is_verified(self, snapshot: LibrarySnapshot, name: str) -> bool:
        stamps = self._files.stamps(name)
        expected = stamps, snapshot.entries[name].version, True
        return None not in stamps and self._verified.get(name) == expected

    def _is_unsettled(self, snapshot: LibrarySnapshot, name: str) -> bool:
        """Whether a person has deleted the tool's code, or put it back."""
        entry = snapshot.entries.get(name)
        if entry is None or entry.state not in ("active", "missing"):
            return False
        present = code_file(name) in snapshot.files
        if entry.state == "missing":
            return present
        return not present and self._copies.digest(name) is not None

    def _compare(self, snapshot: LibrarySnapshot, names: Collection[str]) -> LibrarySnapshot:
        """The snapshot after comparing the files of these tools with the verified sources; only
        files that were touched are read.
        """
        unknown = [
            n
            for n in names
            if self._verified.get(n, ())[:2] != (self._files.stamps(n), snapshot.entries[n].version)
        ]
        moved = set[str]()
        for _ in range(_ROUNDS):
            if not unknown:
                break
            pairs = {name: self._files.stamps(name) for name in unknown}
            sources = {name: self._files.read(name) for name in unknown}
            with reading(
                self._engine
            ) as connection:  # after the files, because a writer writes the record first
                digests = records.digests(connection, unknown)
                now = records.entries(connection, unknown)
            for name in unknown:
                source, entry = sources[name], snapshot.entries[name]
                if name not in now or now[name].version != entry.version:
                    moved.add(name)  # the next look knows the version that was read
                    continue
                sound = name not in digests or (
                    source is not None and source.digest == digests[name]
                )
                sound |= pairs[name] == (None, None) and self._copies.digest(name) is None
                self._verified[name] = pairs[name], entry.version, sound
            unknown = [
                n
                for n in unknown
                if n not in moved and not self._verified[n][2] and self._files.stamps(n) != pairs[n]
            ]
        modified = {n for n in snapshot.modified if n in snapshot and n not in {*names} - moved} | {
            n for n in names if n not in moved and not self._verified[n][2]
        }
        return (
            snapshot
            if modified == snapshot.modified
            else replace(snapshot, modified=frozenset(modified))
        )


def _updated(
    entries: Mapping[str, ToolEntry], names: Iterable[str], new_entries: Mapping[str, ToolEntry]
) -> Mapping[str, ToolEntry]:
    updated = dict(entries)
    for name in names:
        updated.pop(name, None)
    return {**updated, **new_entries}
