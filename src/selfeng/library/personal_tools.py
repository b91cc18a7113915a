"""One person's share of the library: tools that only this person's requests made and used, and, in
tools that stay, the words and recordings that this person brought.
"""

import json
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from selfeng.core.http import Exchange
from selfeng.core.provenance import Provenance, Repaired, ToolVersion
from selfeng.library import records, revisions, versions
from selfeng.store.database import fetch, fetch_column, reading, writing
from selfeng.store.schema import conversations, grants, results, schedules, tool_versions, tools


class PersonalTools:
    """Blocking."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def only_of(self, owner: str) -> tuple[str, ...]:
        """Names of the tools that the requests of `owner` made, that nobody else changed, called,
        granted anything or has a schedule for, that no other tool imports, and that none was merged
        into.
        """
        columns = tool_versions.c
        query = sa.select(columns.name, columns.owner).order_by(columns.name, columns.version)
        makers: dict[str, list[str]] = {}
        for row in fetch(self._engine, query):
            makers.setdefault(row.name, []).append(row.owner)
        whose = conversations.c.id == results.c.conversation_id
        called = sa.select(results.c.tool).join(conversations, whose)
        shared = called.where(conversations.c.owner != owner).union(
            sa.select(grants.c.tool).where(grants.c.owner != owner)
        )
        names = {n for n, of in makers.items() if of[0] == owner and {owner, ""}.issuperset(of)}
        names -= set(fetch_column(self._engine, shared))
        plans = sa.select(schedules.c.plan).where(schedules.c.owner != owner)
        names -= {json.loads(plan)["tool"] for plan in fetch_column(self._engine, plans)}
        rows = fetch(self._engine, sa.select(tools.c.name, tools.c.requires, tools.c.merged_into))
        imports = {
            row.name: {pin["name"] for pin in json.loads(row.requires)} | {row.merged_into}
            for row in rows
        }
        while imported := names & set().union(*(imports[n] for n in imports.keys() - names)):
            names -= imported
        return tuple(sorted(names))

    def purge(self, names: Collection[str]) -> None:
        """Delete what is left of removed tools."""
        with writing(self._engine) as connection:
            for name in names:
                records.delete(connection, name)
                connection.execute(tool_versions.delete().where(tool_versions.c.name == name))

    def examples(self, owner: str) -> dict[str, frozenset[str]]:
        """By tool, the example requests that came with versions of `owner`."""
        with reading(self._engine) as connection:
            return {
                name: _brought(versions.load_all(connection, name), numbers)[0]
                for name, numbers in _numbers(connection, owner).items()
            }

    def scrub(self, owner: str) -> None:
        """Take the person's examples, prompts and the exchanges of calls out of all versions.
        Exchanges that tests replay stay: the code was verified with them.
        """
        with writing(self._engine) as connection:
            for name, numbers in _numbers(connection, owner).items():
                history = versions.load_all(connection, name)
                brought = _brought(history, numbers)
                for version in history:
                    _update(connection, version, *brought, version.version in numbers)
                for tool in records.load(connection, [name]):
                    columns = records.without(connection, tool, *brought)
                    connection.execute(tools.update().where(tools.c.name == name).values(columns))
                revisions.note(connection, name)


def _numbers(connection: sa.Connection, owner: str) -> dict[str, set[int]]:
    """The versions of `owner`, by tool."""
    columns, numbers = tool_versions.c, dict[str, set[int]]()
    query = sa.select(columns.name, columns.version).where(columns.owner == owner)
    for row in connection.execute(query):
        numbers.setdefault(row.name, set()).add(row.version)
    return numbers


def _brought(
    history: Sequence[ToolVersion], numbers: Collection[int]
) -> tuple[frozenset[str], frozenset[Exchange]]:
    """The examples, and the exchanges of calls, that came with the versions of these numbers."""
    examples, exchanges = dict[str, int](), dict[Exchange, int]()
    for version in sorted(history, key=lambda version: version.version):
        for example in version.example_requests:
            examples.setdefault(example, version.version)
        for exchange in version.exchanges:
            exchanges.setdefault(exchange, version.version)
    return (
        frozenset(example for example, first in examples.items() if first in numbers),
        frozenset(e for e, first in exchanges.items() if e.from_call and first in numbers),
    )


def _update(
    connection: sa.Connection,
    version: ToolVersion,
    examples: frozenset[str],
    calls: frozenset[Exchange],
    of_person: bool,
) -> None:
    columns = records.without(connection, version, examples, calls)
    if of_person:
        columns |= records.columns(_anonymous(version.provenance)) | {"owner": ""}
    its = (tool_versions.c.name == version.name) & (tool_versions.c.version == version.version)
    connection.execute(tool_versions.update().where(its).values(columns))


def _anonymous(provenance: Provenance) -> Provenance:
    """Without what the person said."""
    prompts = tuple(prompt.model_copy(update={"text": ""}) for prompt in provenance.prompts)
    origin = provenance.origin
    if isinstance(origin, Repaired):
        origin = Repaired()
    return provenance.model_copy(update={"prompts": prompts, "origin": origin})
