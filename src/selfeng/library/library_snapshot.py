"""A snapshot of the library: what it holds at one moment, without the tools' sources and vectors,
which stay in SQL.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from selfeng.library.records import ToolEntry
from selfeng.library.tool_files import code_file, owner, tests_file

Condition = Literal["offered", "modified", "missing"]
"""The condition of a tool's files; retired tools count as offered here."""


@dataclass(frozen=True)
class LibrarySnapshot:
    """Immutable, so that a change of the library does not disturb a search."""

    entries: Mapping[str, ToolEntry]
    """Every record, by the tool's name."""
    files: AbstractSet[str]
    """All Python files in the folder."""
    modified: frozenset[str]
    """Tools whose files, when they were last looked at, differed from what was verified."""
    revision: int
    """The revision of the records, see `revisions`."""

    def __contains__(self, name: str) -> bool:
        """Whether a tool of that name is registered, including retired and modified ones."""
        return name in self.entries and self.entries[name].registered

    def __iter__(self) -> Iterator[str]:
        """Names of the registered tools."""
        return (entry.name for entry in self.entries.values() if entry.registered)

    @cached_property
    def count(self) -> int:
        """The number of registered tools."""
        return sum(1 for _ in self)

    @cached_property
    def searched(self) -> int:
        """The number of tools that search offers."""
        return sum(1 for name in self if self.offers(name))

    def offers(self, name: str) -> bool:
        return (
            name in self and self.entries[name].standing != "retired" and name not in self.modified
        )

    def reserves(self, name: str) -> bool:
        """Whether the name has a record whose files are not known to be deleted."""
        return name in self.entries and self.entries[name].state != "missing"

    def condition(self, name: str) -> Condition | None:
        """None if the tool does not exist, is not complete yet, or is being removed."""
        if name in self:
            return "modified" if name in self.modified else "offered"
        return "missing" if name in self.entries and self.entries[name].state == "missing" else None

    def half(self, name: str) -> str | None:
        """The missing file of a tool, if exactly one of its two files was deleted by hand."""
        if name not in self.entries or self.entries[name].state not in ("active", "missing"):
            return None
        missing = [file for file in (code_file(name), tests_file(name)) if file not in self.files]
        return missing[0] if len(missing) == 1 else None

    def is_stranger(self, file: str) -> bool:
        """Whether a file in the folder belongs to no tool. The tests of a tool with deleted code
        still belong to it.
        """
        name = owner(file)
        return file in self.files and not (
            self.reserves(name) or (name in self.entries and file == tests_file(name))
        )

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """The names that tools would have whose two files belong to none."""
        strangers = {file for file in self.files if self.is_stranger(file)}
        names = sorted({owner(file) for file in strangers})
        return tuple(n for n in names if {code_file(n), tests_file(n)} <= strangers)


EMPTY = LibrarySnapshot(entries={}, files=frozenset(), modified=frozenset(), revision=-1)
