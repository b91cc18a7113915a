"""The records of the tools in SQL: rows and vectors, read and written inside a transaction of the caller."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from src.core.signature import Signature
from src.core.tool import Tool
from src.registry.sources import Sources
from src.store.schema import tool_vectors, tools

Vector = npt.NDArray[np.float32]
State = Literal["pending", "active", "missing", "removing"]
"""pending: files are being written; missing: files were deleted by hand; removing: files are being deleted."""

_CHUNK = 500
"""Names in one query; SQLite allows some thousand parameters."""


class Entry(NamedTuple):
    """What is read of every tool at every look; `digest` and `created_at` together tell versions of a name apart."""

    name: str
    state: State
    digest: str
    created_at: datetime
    uses: int

    @property
    def version(self) -> tuple[str, datetime]:
        return self.digest, self.created_at


def entries(connection: sa.Connection) -> list[Entry]:
    columns = tools.c.name, tools.c.state, tools.c.digest, tools.c.created_at, tools.c.uses
    rows = connection.execute(sa.select(*columns).order_by(tools.c.name))
    return [Entry(r.name, r.state, r.digest, _utc(r.created_at), r.uses) for r in rows]


def state_of(connection: sa.Connection, name: str) -> State | None:
    state: State | None = connection.execute(sa.select(tools.c.state).where(tools.c.name == name)).scalar()
    return state


def load(connection: sa.Connection, names: Sequence[str]) -> Iterator[Tool]:
    for chunk in _chunks(names):
        for row in connection.execute(sa.select(tools).where(tools.c.name.in_(chunk))):
            yield Tool(
                name=row.name,
                description=row.description,
                signature=Signature.model_validate_json(row.signature),
                code=row.code,
                tests=row.tests,
                example_requests=tuple(json.loads(row.example_requests)),
                model=row.model,
                created_at=_utc(row.created_at),
                digest=row.digest,
                uses=row.uses,
            )


def insert(connection: sa.Connection, tool: Tool, state: State, embedder: str, vector: Vector) -> None:
    connection.execute(
        tools.insert().values(
            name=tool.name,
            state=state,
            description=tool.description,
            signature=tool.signature.model_dump_json(),
            code=tool.code,
            tests=tool.tests,
            digest=tool.digest,
            example_requests=json.dumps(tool.example_requests),
            model=tool.model,
            created_at=tool.created_at,
            uses=tool.uses,
        )
    )
    insert_vector(connection, tool.name, embedder, vector)


def replace_sources(connection: sa.Connection, name: str, sources: Sources, signature: Signature) -> None:
    connection.execute(
        tools.update()
        .where(tools.c.name == name)
        .values(code=sources.code, tests=sources.tests, digest=sources.digest, signature=signature.model_dump_json())
    )


def set_state(connection: sa.Connection, name: str, state: State) -> None:
    connection.execute(tools.update().where(tools.c.name == name).values(state=state))


def delete(connection: sa.Connection, name: str) -> None:
    connection.execute(tool_vectors.delete().where(tool_vectors.c.name == name))
    connection.execute(tools.delete().where(tools.c.name == name))


def count_use(connection: sa.Connection, name: str) -> bool:
    """False if there is no such tool."""
    return connection.execute(tools.update().where(tools.c.name == name).values(uses=tools.c.uses + 1)).rowcount == 1


def vectors(connection: sa.Connection, names: Sequence[str], embedder: str) -> Iterator[tuple[str, Vector]]:
    for chunk in _chunks(names):
        chosen = tool_vectors.c.name.in_(chunk), tool_vectors.c.embedder == embedder
        for row in connection.execute(sa.select(tool_vectors.c.name, tool_vectors.c.vector).where(*chosen)):
            yield row.name, np.frombuffer(row.vector, dtype="<f4").astype(np.float32)


def insert_vector(connection: sa.Connection, name: str, embedder: str, vector: Vector) -> None:
    same = tool_vectors.c.name == name, tool_vectors.c.embedder == embedder
    connection.execute(tool_vectors.delete().where(*same))
    connection.execute(tool_vectors.insert().values(name=name, embedder=embedder, vector=vector.astype("<f4").tobytes()))


def _chunks(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + _CHUNK] for start in range(0, len(names), _CHUNK))


def _utc(at: datetime) -> datetime:
    """SQLite keeps no time zones; what we write is UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
