"""Library change events: the differences between two snapshots of the library, for changes that
this process did not request.
"""

from typing import Literal, assert_never

from selfeng.core.value import Value
from selfeng.library.library_errors import complete
from selfeng.library.library_snapshot import Condition, LibrarySnapshot
from selfeng.library.records import ToolEntry
from selfeng.library.tool_files import code_file


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
    keeps an old
        version of a tool
    that it imports, because it does not work with the new one.
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
            return LibraryChange(
                name=name, change="retired", reason=f"Search no longer offers {name}."
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
