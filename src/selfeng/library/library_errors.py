"""The errors of the library, each with the value and the remedy."""

from pathlib import Path

from selfeng.core.errors import (
    FileInTheWay,
    LibraryError,
    ToolExists,
    ToolModified,
    ToolNotFound,
    VersionConflict,
)
from selfeng.library.tool_files import code_file, tests_file


def exists(name: str) -> ToolExists:
    return ToolExists(
        f"a tool named {name} is registered already",
        "choose another name, or remove the tool first",
        name=name,
    )


def file_in_the_way(folder: Path, file: str) -> FileInTheWay:
    return FileInTheWay(
        f"{folder / file} is in the way: it belongs to no tool of the library",
        "move the file away, or choose another name",
        file=file,
    )


def not_found(name: str) -> ToolNotFound:
    return ToolNotFound(
        f"no tool named {name} is registered",
        "`selfeng tools` lists the registered tools",
        name=name,
    )


def half(name: str, missing: str) -> ToolNotFound | ToolModified:
    """A tool without its code is gone; without its tests, it is not the verified one."""
    kind = ToolNotFound if missing == code_file(name) else ToolModified
    message = f"the file {missing} of the tool {name} is missing"
    return kind(message, complete(name, missing), name=name)


def complete(name: str, missing: str) -> str:
    remaining_file = tests_file(name) if missing == code_file(name) else code_file(name)
    return f"restore it, or delete {remaining_file} as well"


def verify_again(name: str) -> str:
    return f"restore the file, or run `selfeng verify {name}`"


def edits_in_the_way(name: str, file: str) -> ToolModified:
    """A new version would overwrite an edit by hand."""
    return ToolModified(
        f"{file} was edited by hand, and a new version of {name} would overwrite that",
        f"run `selfeng verify {name}` to keep the edit, or delete the file to drop it",
        name=name,
    )


def overtaken(name: str, based_on: int, newest: int) -> VersionConflict:
    return VersionConflict(
        f"version {based_on} of {name} is no longer the newest, version {newest} is",
        "look at the newest version, then try again",
        name=name,
    )


def in_use_already(name: str, version: int) -> VersionConflict:
    return VersionConflict(
        f"version {version} of {name} is already in use",
        f"`selfeng versions {name}` lists the others",
        name=name,
    )


def frozen(name: str, version: int) -> LibraryError:
    return LibraryError(
        f"version {version} of {name} is frozen",
        f"`selfeng unfreeze {name}` allows repairs again",
        cause="frozen",
        name=name,
    )


def unfinished(name: str, version: int) -> LibraryError:
    return LibraryError(
        f"the files of version {version} of {name} are not all in place yet",
        "start a server, which completes them",
        cause="unfinished",
        name=name,
    )
