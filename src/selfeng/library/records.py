"""The records of the tools in SQL: rows and vectors, read and written inside the caller's
transaction.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import sqlalchemy as sa
from pydantic import BaseModel
from pydantic_core import to_json

from selfeng.core.http import Exchange
from selfeng.core.owner import current_owner
from selfeng.core.tool import Standing, Tool, ToolDraft
from selfeng.library import lexical, revisions
from selfeng.library.fusion import Vector
from selfeng.store.database import storable, utc
from selfeng.store.schema import (
    cassettes,
    grants,
    tool_requests,
    tool_uses,
    tool_vectors,
    tool_words,
    tools,
)

State = Literal["pending", "revising", "active", "missing", "removing"]
"""pending: the first files are being written; revising: files are being replaced by those of the
version in the record;
missing: files were deleted by hand; removing: files are being deleted.
"""

_STATES: dict[str, State] = {state: state for state in get_args(State)}
_STANDINGS: dict[str, Standing] = {standing: standing for standing in get_args(Standing)}
"""One string object for all tools."""
REGISTERED: tuple[State, ...] = ("active", "revising")

_PLAIN = (str, int, bool, datetime, Standing, float | None)
"""Types of fields that are stored in a column unchanged."""

_CHUNK = 500
"""Names per query; SQLite limits the number of parameters to some thousand."""

_VECTORS = sa.select(tool_vectors.c.name, tool_vectors.c.vector).where(
    tool_vectors.c.embedder == sa.bindparam("embedder"),
    tool_vectors.c.name.in_(sa.bindparam("names", expanding=True)),
)

_USED = (
    sa.select(tool_requests.c.name, tool_requests.c.request)
    .where(tool_requests.c.name.in_(sa.bindparam("names", expanding=True)))
    .order_by(tool_requests.c.at.desc(), tool_requests.c.request)
)


class Embedding(NamedTuple):
    """The search vector of a tool, and the id of the embedder that made it."""

    embedder: str
    vector: Vector
    former: "Embedding | None" = None
    """The same by the former embedder; searches use it until all tools have new vectors."""


class ToolEntry(NamedTuple):
    """The part of every tool's record that is kept in memory."""

    name: str
    state: State
    created_at: datetime
    version: int
    standing: Standing
    merged_into: str = ""

    @property
    def registered(self) -> bool:
        return self.state in REGISTERED


def entries(connection: sa.Connection, names: Sequence[str] | None = None) -> dict[str, ToolEntry]:
    """The entries of these tools or of all, by name."""
    statement = sa.select(*(tools.c[name] for name in ToolEntry._fields))
    queries = (
        [statement]
        if names is None
        else [statement.where(tools.c.name.in_(chunk)) for chunk in _chunks(names)]
    )
    rows = (row for query in queries for row in connection.execute(query))
    return {
        r.name: ToolEntry(
            r.name,
            _STATES[r.state],
            utc(r.created_at),
            r.version,
            _STANDINGS[r.standing],
            r.merged_into,
        )
        for r in rows
    }


def unfinished(connection: sa.Connection) -> dict[str, State]:
    """The states that killed processes left behind, by tool name."""
    statement = sa.select(tools.c.name, tools.c.state).where(
        tools.c.state.in_(("pending", "revising", "removing"))
    )
    return {row.name: row.state for row in connection.execute(statement.order_by(tools.c.name))}


def digests(
    connection: sa.Connection, names: Sequence[str], state: State = "active"
) -> dict[str, str]:
    """The verified digests of those of the tools that are in that state, by name."""
    return {
        row.name: row.digest
        for chunk in _chunks(names)
        for row in connection.execute(
            sa.select(tools.c.name, tools.c.digest).where(
                tools.c.name.in_(chunk), tools.c.state == state
            )
        )
    }


def state_of(connection: sa.Connection, name: str) -> State | None:
    state: State | None = connection.execute(
        sa.select(tools.c.state).where(tools.c.name == name)
    ).scalar()
    return state


def load(connection: sa.Connection, names: Sequence[str]) -> Iterator[Tool]:
    for chunk in _chunks(names):
        yield from (
            Tool(**fields(Tool, row)) for row in connection.execute(_by_names(), {"names": chunk})
        )


@cache
def _by_names() -> sa.Select[Any]:
    """The tools of these `names`; making the statement takes as long as running it."""
    return with_exchanges(tools).where(tools.c.name.in_(sa.bindparam("names", expanding=True)))


def with_exchanges(table: sa.Table) -> sa.Select[Any]:
    """A query for the rows of tools, or of versions, with what was recorded of their hosts."""
    recorded = sa.func.coalesce(cassettes.c.exchanges, "[]").label("exchanges")
    joined = table.outerjoin(cassettes, cassettes.c.sha256 == table.c.cassette)
    return sa.select(table, recorded).select_from(joined)


def insert(
    connection: sa.Connection,
    tool: Tool,
    state: State,
    embedding: Embedding | None,
    used: Sequence[str] = (),
) -> None:
    """`embedding` None: the tool has no vector yet. It is found by the `used` requests, too."""
    _keep_exchanges(connection, tool)
    connection.execute(tools.insert().values(**columns(tool), state=state))
    revisions.note(connection, tool.name)
    if embedding is not None:
        insert_vector(connection, tool.name, embedding)
    keep_requests(connection, tool.name, used)
    lexical.write(connection, tool, used)


def replace(
    connection: sa.Connection, tool: Tool, state: State, embedding: Embedding | None
) -> None:
    """Replace the version in the tool's record; `embedding` is None if the searchable words are
    unchanged.
    """
    _keep_exchanges(connection, tool)
    connection.execute(
        tools.update()
        .where(tools.c.name == tool.name)
        .values(**columns(tool), state=state, failures=0)
    )
    revisions.note(connection, tool.name)
    lexical.write(connection, tool, used_requests(connection, [tool.name])[tool.name])
    if embedding is not None:
        connection.execute(
            tool_vectors.delete().where(tool_vectors.c.name == tool.name)
        )  # of other embedders too
        insert_vector(connection, tool.name, embedding)


def columns(record: BaseModel) -> dict[str, Any]:
    """A column for each field: text, numbers and times unchanged, everything else as JSON; of
    exchanges their hash.
    """
    json_names = _json_fields(type(record))
    values = {
        name: to_json(value).decode() if name in json_names and value is not None else value
        for name, value in record
    }
    if (exchanges := values.pop("exchanges", None)) is not None:
        values["cassette"] = _hash(exchanges)
    return values


def _keep_exchanges(connection: sa.Connection, tool: ToolDraft) -> None:
    """Store what was recorded of a tool's hosts, once by hash."""
    if not tool.exchanges:
        return
    exchanges = to_json(tool.exchanges).decode()
    its = cassettes.c.sha256 == (sha256 := _hash(exchanges))
    if connection.scalar(sa.select(sa.func.count()).select_from(cassettes).where(its)) == 0:
        connection.execute(cassettes.insert().values(sha256=sha256, exchanges=exchanges))


def without(
    connection: sa.Connection,
    tool: ToolDraft,
    examples: Collection[str],
    exchanges: Collection[Exchange],
) -> dict[str, Any]:
    """The changed columns of a tool, or a version, without these example requests and exchanges;
    the remaining exchanges are stored.
    """
    changed = ToolDraft.model_validate(
        dict(tool.draft())
        | {
            "example_requests": tuple(e for e in tool.example_requests if e not in examples),
            "exchanges": tuple(e for e in tool.exchanges if e not in exchanges),
        }
    )
    _keep_exchanges(connection, changed)
    all_columns = columns(changed)
    return {name: all_columns[name] for name in ("example_requests", "cassette")}


def _hash(exchanges: str) -> str | None:
    return None if exchanges == "[]" else hashlib.sha256(exchanges.encode()).hexdigest()


def fields(model: type[BaseModel], row: sa.Row[Any], but: str = "") -> dict[str, Any]:
    """The fields of a model, read from columns that `columns` wrote; `but` is a field without a
    column.
    """
    json_names = _json_fields(model)
    values = {name: getattr(row, name) for name in model.model_fields if name != but}
    return {name: _read(value, name in json_names) for name, value in values.items()}


@cache
def _json_fields(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(
        name for name, field in model.model_fields.items() if field.annotation not in _PLAIN
    )


def _read(value: Any, is_json: bool) -> Any:
    if is_json and value is not None:
        return json.loads(value)
    return utc(value) if isinstance(value, datetime) else value


def set_frozen(connection: sa.Connection, name: str, frozen: bool) -> bool:
    """Whether there was a tool of this name."""
    of_tool = tools.update().where(tools.c.name == storable(name))
    is_changed = connection.execute(of_tool.values(frozen=frozen)).rowcount == 1
    if is_changed:
        revisions.note(connection, name)
    return is_changed


def set_state(connection: sa.Connection, name: str, state: State) -> None:
    connection.execute(tools.update().where(tools.c.name == name).values(state=state))
    revisions.note(connection, name)


def delete(connection: sa.Connection, name: str) -> None:
    """Delete the tool and its grants, but not its versions."""
    for table in (tool_requests, tool_words, tool_uses, tool_vectors, tools):
        connection.execute(table.delete().where(table.c.name == name))
    connection.execute(grants.delete().where(grants.c.tool == name))
    revisions.note(connection, name)


def searched(
    connection: sa.Connection, embedder: str, names: Sequence[str] | None = None
) -> Iterator[tuple[str, Vector]]:
    """The vectors of registered tools that are not retired, or were merged into another, by name:
    of these tools, or of all in name order.
    """
    statement = _of_searched(embedder, tools.c.name, tool_vectors.c.vector)
    if names is None:
        ordered = statement.order_by(tools.c.name)
        with connection.execute(ordered, execution_options={"yield_per": _CHUNK}) as rows:
            yield from ((row.name, _vector(row.vector)) for row in rows)
    else:
        for chunk in _chunks(names):
            yield from (
                (row.name, _vector(row.vector))
                for row in connection.execute(statement.where(tools.c.name.in_(chunk))).all()
            )


def vectors(connection: sa.Connection, embedder: str, names: Sequence[str]) -> dict[str, Vector]:
    """The vectors of these tools, whatever their state, by name."""
    batches = (
        connection.execute(_VECTORS, {"embedder": embedder, "names": chunk}).all()
        for chunk in _chunks(names)
    )
    return {name: _vector(content) for rows in batches for name, content in rows}


def _vector(content: bytes) -> Vector:
    return np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)


def searched_count(connection: sa.Connection, embedder: str) -> int:
    """The number of vectors that `searched` returns for all tools."""
    return int(connection.execute(_of_searched(embedder, sa.func.count())).scalar_one())


def _of_searched(embedder: str, *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """A query for these columns of the tools that search may find, joined with their vectors."""
    joined = tools.join(tool_vectors, tool_vectors.c.name == tools.c.name)
    there = (
        tools.c.state.in_(REGISTERED),
        (tools.c.standing != "retired") | (tools.c.merged_into != ""),
        tool_vectors.c.embedder == embedder,
    )
    return sa.select(*columns).select_from(joined).where(*there)


def unembedded(connection: sa.Connection, embedder: str) -> list[str]:
    """Names of the registered tools that have no vector of the embedder."""
    embedded = sa.select(tool_vectors.c.name).where(tool_vectors.c.embedder == embedder)
    statement = sa.select(tools.c.name).where(
        tools.c.state.in_(REGISTERED), tools.c.name.not_in(embedded)
    )
    return list(connection.execute(statement.order_by(tools.c.name)).scalars())


def insert_vector(connection: sa.Connection, name: str, embedding: Embedding) -> None:
    same = tool_vectors.c.name == name, tool_vectors.c.embedder == embedding.embedder
    connection.execute(tool_vectors.delete().where(*same))
    content = embedding.vector.astype("<f4").tobytes()
    connection.execute(
        tool_vectors.insert().values(name=name, embedder=embedding.embedder, vector=content)
    )
    revisions.note(connection, name, embedding.embedder)
    if embedding.former is not None:
        insert_vector(connection, name, embedding.former)


def embedders(connection: sa.Connection) -> dict[str, int]:
    """The number of vectors of each embedder, by its id."""
    counted = sa.select(tool_vectors.c.embedder, sa.func.count().label("vectors")).group_by(
        tool_vectors.c.embedder
    )
    return {row.embedder: row.vectors for row in connection.execute(counted)}


def drop_vectors(connection: sa.Connection, but: str) -> None:
    """Delete the vectors of all embedders but one."""
    connection.execute(tool_vectors.delete().where(tool_vectors.c.embedder != but))


def serve(
    connection: sa.Connection, tool: ToolDraft, used: Sequence[str], embedding: Embedding | None
) -> None:
    """Let search find the tool by the requests that it was written with and by the `used` ones;
    `embedding` None: it has no vector then.
    """
    keep_requests(connection, tool.name, used)
    lexical.write(connection, tool, used)
    if embedding is None:
        connection.execute(tool_vectors.delete().where(tool_vectors.c.name == tool.name))
        revisions.note(connection, tool.name)
    else:
        insert_vector(connection, tool.name, embedding)


def release(
    connection: sa.Connection, tool: Tool, used: Sequence[str], embedding: Embedding | None
) -> None:
    """Let search find an imported tool by its example requests from now on, too."""
    all_columns = columns(tool)
    changed_columns = {name: all_columns[name] for name in ("example_requests", "imported")}
    connection.execute(tools.update().where(tools.c.name == tool.name).values(changed_columns))
    serve(connection, tool, used, embedding)


def used_requests(connection: sa.Connection, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The requests that each tool has served, newest first."""
    requests: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    for chunk in _chunks(names):
        for name, request in connection.execute(_USED, {"names": chunk}):
            requests[name] += (request,)
    return requests


def keep_requests(connection: sa.Connection, name: str, requests: Iterable[str]) -> None:
    """Replace the tool's used requests with these, newest first; new ones are the person's for whom
    the program works.
    """
    new_requests = list(requests)
    ours = tool_requests.c.name == name
    present = set(connection.execute(sa.select(tool_requests.c.request).where(ours)).scalars())
    connection.execute(
        tool_requests.delete().where(ours, tool_requests.c.request.not_in(new_requests))
    )
    for request in new_requests:
        if request not in present:
            connection.execute(
                tool_requests.insert().values(
                    name=name, request=request, at=datetime.now(UTC), owner=current_owner()
                )
            )


def _chunks(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + _CHUNK] for start in range(0, len(names), _CHUNK))
