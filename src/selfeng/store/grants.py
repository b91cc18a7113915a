"""Grants: which hosts persons allow tools of the library to use."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from selfeng.core.http import Grant, NetworkAccess
from selfeng.store import schema
from selfeng.store.database import fetch, fetch_column, utc, writing
from selfeng.store.text import storable

_GRANTS = schema.grants


class Grants:
    """All methods block. A grant holds for every later version of its tool that needs the same."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def read(self, tool: str = "") -> tuple[Grant, ...]:
        """Those of a tool, or all, by tool and time."""
        query = sa.select(_GRANTS).order_by(_GRANTS.c.tool, _GRANTS.c.at, _GRANTS.c.key)
        if tool:
            query = query.where(_GRANTS.c.tool == storable(tool))
        return tuple(
            Grant(
                tool=row.tool,
                version=row.version,
                access=NetworkAccess.model_validate_json(row.access),
                owner=row.owner,
                at=utc(row.at),
            )
            for row in fetch(self._engine, query)
        )

    def ungranted(self, tool: str, accesses: Sequence[NetworkAccess]) -> tuple[NetworkAccess, ...]:
        """Those of the accesses that the tool has no grant for."""
        query = sa.select(_GRANTS.c.key).where(_GRANTS.c.tool == storable(tool))
        keys = set(fetch_column(self._engine, query))
        return tuple(access for access in accesses if _digest(access) not in keys)

    def put(self, owner: str, tool: str, version: int, accesses: Sequence[NetworkAccess]) -> None:
        """Grant a version the accesses that it has no grant for."""
        now = datetime.now(UTC)
        rows = [
            {
                "tool": tool,
                "key": _digest(access),
                "version": version,
                "access": access.model_dump_json(),
                "owner": owner,
                "at": now,
            }
            for access in self.ungranted(tool, accesses)
        ]
        if rows:
            with writing(self._engine) as connection:
                for row in rows:
                    its = (_GRANTS.c.tool == tool) & (_GRANTS.c.key == row["key"])
                    connection.execute(_GRANTS.delete().where(its))
                    connection.execute(_GRANTS.insert().values(**row))

    def revoke(self, tool: str, host: str = "") -> int:
        """Ask again before the tool uses this host, or any; returns how many grants there were."""
        keys = {
            _digest(grant.access) for grant in self.read(tool) if host in ("", grant.access.host)
        }
        its = (_GRANTS.c.tool == storable(tool)) & _GRANTS.c.key.in_(keys)
        with writing(self._engine) as connection:
            return connection.execute(_GRANTS.delete().where(its)).rowcount


def _digest(access: NetworkAccess) -> str:
    return hashlib.sha256(access.key.encode()).hexdigest()
