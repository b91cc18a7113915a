"""Taking inventory: compares records and files, keeps the shelf current and tells what has changed.

The look itself is cheap (one narrow query, one scan of the folder), so it precedes every answer of the library; whatever
another process or a person's editor did is seen at once and without a watcher.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, assert_never

import sqlalchemy as sa

from src.core.tool import Standing, Tool
from src.registry import records
from src.registry.change import LibraryChange
from src.registry.files import Stamp, Survey, ToolFiles, code_file, files_of, tests_file
from src.registry.fusion import Vector
from src.registry.records import Entry
from src.registry.refusals import complete
from src.registry.registrar import Registrar
from src.registry.shelf import EMPTY, Shelf
from src.store.database import reading

_log = logging.getLogger(__name__)
_Condition = Literal["offered", "modified", "missing"]
_Edition = tuple[str, datetime, int]
_Pair = tuple[Stamp | None, Stamp | None]


class _Known(NamedTuple):
    """What was said of a tool, so that only what is new is told."""

    condition: _Condition
    created_at: datetime
    version: int
    standing: Standing


class Inventory:
    """Blocking; `look` may be called from any thread."""

    def __init__(self, engine: sa.Engine, files: ToolFiles, registrar: Registrar, embedder: str) -> None:
        self._engine = engine
        self._files = files
        self._registrar = registrar
        self._embedder = embedder
        self._lock = threading.Lock()
        self.shelf = EMPTY
        """As of the last look."""
        self.changes: deque[LibraryChange] = deque()
        """Not yet told; whoever tells one takes it out."""
        self._seen: tuple[list[Entry], Survey] | None = None
        self._known: dict[str, _Known] = {}
        self._tools: dict[str, tuple[_Edition, Tool]] = {}
        self._vectors: dict[str, tuple[_Edition, Vector]] = {}
        self._judged: dict[str, tuple[_Edition, _Pair, bool]] = {}

    def begin(self) -> None:
        """Take what the records say now as known: the changes told later are those since then."""
        known = [e for e in self._entries() if e.state in ("active", "revising", "missing")]
        self._known = {e.name: _as_known(e, "missing" if e.state == "missing" else "offered") for e in known}

    def look(self) -> Shelf:
        """Raises: LibraryError."""
        with self._lock:
            survey, entries = self._files.survey(), self._entries()
            if self._seen == (entries, survey) and not self.shelf.unembedded:
                return self.shelf
            if _unsettled(entries, survey):
                self._registrar.settle()
                survey, entries = self._files.survey(), self._entries()
            self._arrange(entries, survey)
            self._seen = entries, survey
            return self.shelf

    def _entries(self) -> list[Entry]:
        with reading(self._engine) as connection:
            return records.entries(connection)

    def _arrange(self, entries: Sequence[Entry], survey: Survey) -> None:
        active = [e for e in entries if e.state in ("active", "revising")]
        self._fetch(active)
        active = [e for e in active if e.name in self._tools]  # without those removed since
        modified = frozenset(e.name for e in active if e.state == "active" and not self._as_verified(e, survey))
        tools = {e.name: self._tools[e.name][1].model_copy(update={"uses": e.uses, "standing": e.standing}) for e in active}
        offered = [name for name, tool in tools.items() if name not in modified and tool.standing != "retired"]
        self.shelf = Shelf(
            tools=tools,
            modified=modified,
            reserved=frozenset(e.name for e in entries if e.state != "missing"),
            strangers=frozenset(survey.keys() - _ours(entries)),
            halves=dict(_halves(entries, survey)),
            vectors={n: self._vectors[n][1] for n in offered if n in self._vectors},
            unembedded=frozenset(tools.keys() - self._vectors.keys()),
        )
        self._compare(entries, modified)

    def _fetch(self, active: Sequence[Entry]) -> None:
        """Read the tools and vectors that are new or other than before."""
        editions = {e.name: e.edition for e in active}
        for cache in (self._tools, self._vectors, self._judged):
            for name in [n for n, (edition, *_) in cache.items() if editions.get(n) != edition]:
                del cache[name]
        with reading(self._engine) as connection:
            for tool in records.load(connection, [n for n in editions if n not in self._tools]):
                if editions[tool.name] == (tool.digest, tool.created_at, tool.version):
                    self._tools[tool.name] = editions[tool.name], tool
            for name, vector in records.vectors(connection, [n for n in editions if n not in self._vectors], self._embedder):
                self._vectors[name] = editions[name], vector

    def _as_verified(self, entry: Entry, survey: Survey) -> bool:
        """Whether the files are those of the record; they are read again only when they have been touched."""
        pair = survey.get(code_file(entry.name)), survey.get(tests_file(entry.name))
        judged = self._judged.get(entry.name)
        if judged is None or judged[1] != pair:
            sources = self._files.read(entry.name)
            judged = entry.edition, pair, sources is not None and sources.digest == entry.digest
            self._judged[entry.name] = judged
        return judged[2]

    def _compare(self, entries: Sequence[Entry], modified: frozenset[str]) -> None:
        now: dict[str, _Known] = {}
        for entry in entries:
            if entry.state == "missing":
                now[entry.name] = _as_known(entry, "missing")
            elif entry.name in self.shelf.tools:
                now[entry.name] = _as_known(entry, "modified" if entry.name in modified else "offered")
        for name in sorted(now.keys() | self._known.keys()):
            before, after = self._known.get(name), now.get(name)
            if before and after and before.created_at != after.created_at:
                before = None  # another tool of the same name
            change = _change(name, before and before.condition, after and after.condition, self.shelf.halves.get(name))
            if change is None and before and after:
                change = _development(name, before, after)
            if change is not None:
                _log.info("%s: %s (%s)", change.name, change.change, change.reason)
                self.changes.append(change)
        self._known = now


def _as_known(entry: Entry, condition: _Condition) -> _Known:
    return _Known(condition, entry.created_at, entry.version, entry.standing)


def _unsettled(entries: Sequence[Entry], survey: Survey) -> bool:
    """Whether files of a tool have gone, or may have come back."""
    return any((e.state == "missing") == (code_file(e.name) in survey) for e in entries if e.state in ("active", "missing"))


def _ours(entries: Sequence[Entry]) -> set[str]:
    """The files we wrote; of a tool whose code was deleted by hand, the tests that may have stayed behind."""
    missing = {e.name for e in entries if e.state == "missing"}
    return files_of(e.name for e in entries if e.name not in missing) | {tests_file(name) for name in missing}


def _halves(entries: Sequence[Entry], survey: Survey) -> Iterator[tuple[str, str]]:
    for entry in entries:
        missing = [file for file in (code_file(entry.name), tests_file(entry.name)) if file not in survey]
        if entry.state in ("active", "missing") and len(missing) == 1:
            yield entry.name, missing[0]


def _development(name: str, before: _Known, after: _Known) -> LibraryChange | None:
    """What has become of a tool whose files are as they should be."""
    if after.version != before.version:
        return LibraryChange(name=name, change="revised", reason=f"Version {after.version} of {name} is in use.")
    if after.standing == before.standing:
        return None
    match after.standing:
        case "provisional":
            return LibraryChange(name=name, change="restored", reason=f"{name} is offered again, as provisional.")
        case "trusted":
            return LibraryChange(name=name, change="trusted", reason=f"{name} has served several different calls.")
        case "retired":
            return LibraryChange(name=name, change="retired", reason=f"No search offers {name} any more.")
        case _:
            assert_never(after.standing)


def _change(name: str, before: _Condition | None, now: _Condition | None, missing: str | None) -> LibraryChange | None:
    match before, now:
        case _ if before == now:
            return None
        case _, ("modified" | "missing") if missing and before:
            reason = f"The file {missing} was deleted; {complete(name, missing)}."
            return LibraryChange(name=name, change="modified" if now == "modified" else "removed", reason=reason)
        case None, "offered":
            return LibraryChange(name=name, change="added", reason=f"The tool {name} was registered.")
        case (("missing" | "modified"), "offered"):
            return LibraryChange(name=name, change="restored", reason=f"The files of {name} are the verified ones.")
        case _, "modified":
            return LibraryChange(name=name, change="modified", reason=f"The files of {name} differ from what was verified.")
        case (("offered" | "modified"), "missing"):
            return LibraryChange(name=name, change="removed", reason=f"The file {code_file(name)} was deleted.")
        case (("offered" | "modified"), None):
            return LibraryChange(name=name, change="removed", reason=f"The tool {name} was removed.")
    return None
