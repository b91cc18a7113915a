"""A snapshot of the library: what it holds at one moment, without the tools' sources and vectors,
which stay in SQL; and the differences between two of them, for changes that this process did not
request.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, assert_never

from selfeng.core.value import Value
from selfeng.library.library_errors import complete
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
        return sum(1 for _ in self)

    @cached_property
    def searched(self) -> int:
        """The number of tools that search offers."""
        return sum(1 for name in self if self.offers(name))

    @cached_property
    def word_counts(self) -> dict[str, int]:
        """The number of tools that contain a word, of words that were searched for."""
        return {}

    def offers(self, name: str) -> bool:
        return (
            name in self and self.entries[name].standing != "retired" and name not in self.modified
        )

    def offered(self, name: str) -> str:
        """The tool that search offers where it finds this one: itself, or the one that it was
        merged into; "" for none.
        """
        for _ in self.entries:  # a loop would end, too
            entry = self.entries.get(name)
            if entry is None or entry.standing != "retired" or not entry.merged_into:
                break
            name = entry.merged_into
        return name if self.offers(name) else ""

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


class LibraryChange(Value):
    name: str
    change: Literal[
        "added",
        "removed",
        "modified",
        "revised",
        "trusted",
        "suspect",
        "retired",
        "restored",
        "kept_back",
    ]
    """modified: the files differ from what was verified, the tool is not offered; revised: it has a
    new version; retired: search no longer offers it; restored: it is offered again; kept_back: it
    keeps an old version of a tool that it imports, because it does not work with the new one.
    """
    reason: str
    """One sentence for people."""


def development(name: str, before: LibrarySnapshot, after: LibrarySnapshot) -> LibraryChange | None:
    """The change to report for one tool, or None."""
    old, new = before.entries.get(name), after.entries.get(name)
    was, now = before.condition(name), after.condition(name)
    if old and new and old.created_at != new.created_at:
        was = None  # another tool of the same name
    change = _change(name, was, now, after.half(name))
    if change is None and old and new and was and now:
        return _progress(name, old, new)
    return change


def _progress(name: str, before: ToolEntry, after: ToolEntry) -> LibraryChange | None:
    """The change of a tool with unchanged files."""
    if after.version != before.version:
        return LibraryChange(
            name=name, change="revised", reason=f"Version {after.version} of {name} is in use."
        )
    if after.standing == before.standing:
        return None
    match after.standing:
        case "provisional":
            return LibraryChange(
                name=name, change="restored", reason=f"{name} is offered again, as provisional."
            )
        case "trusted":
            return LibraryChange(
                name=name, change="trusted", reason=f"{name} has served several different calls."
            )
        case "suspect":
            return LibraryChange(
                name=name, change="suspect", reason=f"A service that {name} asks has changed."
            )
        case "retired":
            instead = after.merged_into and f", but {after.merged_into}"
            return LibraryChange(
                name=name, change="retired", reason=f"Search no longer offers {name}{instead}."
            )
        case _:
            assert_never(after.standing)


def _change(
    name: str, before: Condition | None, now: Condition | None, missing: str | None
) -> LibraryChange | None:
    match before, now:
        case _ if before == now:
            return None
        case _, ("modified" | "missing") if missing and before:
            reason = f"The file {missing} was deleted; {complete(name, missing)}."
            return LibraryChange(
                name=name, change="modified" if now == "modified" else "removed", reason=reason
            )
        case None, "offered":
            return LibraryChange(
                name=name, change="added", reason=f"The tool {name} was registered."
            )
        case (("missing" | "modified"), "offered"):
            return LibraryChange(
                name=name, change="restored", reason=f"The files of {name} are the verified ones."
            )
        case _, "modified":
            return LibraryChange(
                name=name,
                change="modified",
                reason=f"The files of {name} differ from what was verified.",
            )
        case (("offered" | "modified"), "missing"):
            return LibraryChange(
                name=name, change="removed", reason=f"The file {code_file(name)} was deleted."
            )
        case (("offered" | "modified"), None):
            return LibraryChange(
                name=name, change="removed", reason=f"The tool {name} was removed."
            )
    return None
