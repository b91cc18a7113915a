"""The versions of the tools in SQL: every one ever registered, including those of removed tools."""

from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Any

import sqlalchemy as sa

from selfeng.core.errors import VersionNotFound
from selfeng.core.owner import current_owner
from selfeng.core.provenance import Provenance, ToolVersion
from selfeng.core.tool import Tool
from selfeng.library import records
from selfeng.library.tool_files import code_file, tests_file
from selfeng.store.schema import tool_versions


def next_number(connection: sa.Connection, name: str) -> int:
    """The next version number: 1 for a new name; a tool that reuses the name of a removed one
    continues its numbers.
    """
    newest = sa.select(sa.func.max(tool_versions.c.version)).where(tool_versions.c.name == name)
    return (connection.execute(newest).scalar() or 0) + 1


def insert(connection: sa.Connection, tool: Tool, provenance: Provenance) -> None:
    """Store the tool's current state under its version number."""
    connection.execute(tool_versions.insert().values(columns(tool, provenance)))


def columns(tool: Tool, provenance: Provenance) -> dict[str, Any]:
    """The row of a version."""
    version_columns = {
        "version": tool.version,
        "digest": tool.digest,
        "created_at": datetime.now(UTC),
        "owner": current_owner(),
    }
    return {**records.columns(tool.draft()), **version_columns, **records.columns(provenance)}


def withdraw(connection: sa.Connection, name: str, version: int) -> None:
    """Delete a version after its files could not be written."""
    connection.execute(
        tool_versions.delete().where(
            tool_versions.c.name == name, tool_versions.c.version == version
        )
    )


def load_all(connection: sa.Connection, name: str) -> tuple[ToolVersion, ...]:
    """All versions, newest first; empty for a name that no tool ever had."""
    query = (
        records.with_exchanges(tool_versions)
        .where(tool_versions.c.name == name)
        .order_by(tool_versions.c.version.desc())
    )
    return tuple(_version(row) for row in connection.execute(query))


def load(connection: sa.Connection, name: str, number: int) -> ToolVersion:
    """Raises: VersionNotFound."""
    query = records.with_exchanges(tool_versions).where(
        tool_versions.c.name == name, tool_versions.c.version == number
    )
    if (row := connection.execute(query).first()) is None:
        raise VersionNotFound(
            f"{name} has no version {number}",
            f"`selfeng versions {name}` lists its versions",
            name=name,
        )
    return _version(row)


def _version(row: sa.Row[Any]) -> ToolVersion:
    provenance = Provenance(**records.fields(Provenance, row))
    return ToolVersion(**records.fields(ToolVersion, row, but="provenance"), provenance=provenance)


def difference(before: ToolVersion, after: ToolVersion) -> str:
    """A unified diff of code and tests; "" if they are the same."""
    return "".join(f"{line}\n" for line in _lines(before, after))


def _lines(before: ToolVersion, after: ToolVersion) -> Iterator[str]:
    versions = f"version {before.version}", f"version {after.version}"
    for file, old, new in (
        (code_file(after.name), before.code, after.code),
        (tests_file(after.name), before.tests, after.tests),
    ):
        yield from unified_diff(_split(old), _split(new), file, file, *versions, n=3, lineterm="")


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
