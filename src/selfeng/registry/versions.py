"""The versions of the tools in SQL: every one that was ever registered, also of tools that were removed since."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from selfeng.core.errors import VersionNotFound
from selfeng.core.provenance import AskedPrompt, Origin, Provenance, ToolVersion
from selfeng.core.stage_event import Usage
from selfeng.core.tool import Tool
from selfeng.core.verdict import Verdict
from selfeng.registry.records import draft_columns, draft_fields, utc
from selfeng.registry.tool_files import code_file, tests_file
from selfeng.store.schema import tool_versions

_ORIGIN: TypeAdapter[Origin] = TypeAdapter(Origin)


def next_number(connection: sa.Connection, name: str) -> int:
    """1 for a name that never was a tool's; a tool that takes the name of a removed one counts on from it."""
    newest = sa.select(sa.func.max(tool_versions.c.version)).where(tool_versions.c.name == name)
    return (connection.execute(newest).scalar() or 0) + 1


def insert(connection: sa.Connection, tool: Tool, provenance: Provenance) -> None:
    """Keep what the tool is now as the version of its number."""
    connection.execute(tool_versions.insert().values(columns(tool, provenance)))


def columns(tool: Tool, provenance: Provenance) -> dict[str, Any]:
    return {
        **draft_columns(tool),
        "version": tool.version,
        "digest": tool.digest,
        "origin": _ORIGIN.dump_json(provenance.origin).decode(),
        "verdict": provenance.verdict and provenance.verdict.model_dump_json(),
        "prompts": json.dumps([p.model_dump() for p in provenance.prompts]),
        "usage": provenance.usage and provenance.usage.model_dump_json(),
        "created_at": datetime.now(UTC),
    }


def withdraw(connection: sa.Connection, name: str, version: int) -> None:
    """Forget a version whose files could not be written, and which therefore never was."""
    connection.execute(tool_versions.delete().where(tool_versions.c.name == name, tool_versions.c.version == version))


def load_all(connection: sa.Connection, name: str) -> tuple[ToolVersion, ...]:
    """The newest first; empty for a name that never was a tool's."""
    chosen = sa.select(tool_versions).where(tool_versions.c.name == name).order_by(tool_versions.c.version.desc())
    return tuple(_version(row) for row in connection.execute(chosen))


def load(connection: sa.Connection, name: str, version: int) -> ToolVersion:
    """Raises: VersionNotFound."""
    chosen = sa.select(tool_versions).where(tool_versions.c.name == name, tool_versions.c.version == version)
    row = connection.execute(chosen).first()
    if row is None:
        raise VersionNotFound(f"{name} has no version {version}", f"`selfeng versions {name}` lists those that it has")
    return _version(row)


def _version(row: sa.Row[Any]) -> ToolVersion:
    return ToolVersion(
        **draft_fields(row),
        version=row.version,
        digest=row.digest,
        created_at=utc(row.created_at),
        provenance=Provenance(
            origin=_ORIGIN.validate_json(row.origin),
            verdict=row.verdict and Verdict.model_validate_json(row.verdict),
            prompts=tuple(AskedPrompt(**p) for p in json.loads(row.prompts)),
            usage=row.usage and Usage.model_validate_json(row.usage),
        ),
    )


def difference(before: ToolVersion, after: ToolVersion) -> str:
    """A unified diff of code and tests; "" if they are the same."""
    return "".join(f"{line}\n" for line in _lines(before, after))


def _lines(before: ToolVersion, after: ToolVersion) -> Iterator[str]:
    versions = f"version {before.version}", f"version {after.version}"
    for file, old, new in ((code_file(after.name), before.code, after.code), (tests_file(after.name), before.tests, after.tests)):
        yield from unified_diff(_split(old), _split(new), file, file, *versions, n=3, lineterm="")


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
