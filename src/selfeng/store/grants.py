"""Grants: what persons allow tools of the library to have."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from pydantic import TypeAdapter

from selfeng.core.tool import Grant, Need
from selfeng.core.verdict import CallLimits
from selfeng.store import schema
from selfeng.store.database import fetch, storable, utc, writing

_GRANTS = schema.grants
_NEED = TypeAdapter[Need](Need)


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
                need=_NEED.validate_json(row.need),
                owner=row.owner,
                at=utc(row.at),
            )
            for row in fetch(self._engine, query)
        )

    def ungranted(self, tool: str, needs: Sequence[Need]) -> tuple[Need, ...]:
        """Those of the needs that the tool has no grant for, nor one for more of the same."""
        granted = [grant.need for grant in self.read(tool)]
        return tuple(n for n in needs if not any(_covers(grant, n) for grant in granted))

    def put(self, owner: str, tool: str, version: int, needs: Sequence[Need]) -> None:
        """Grant a version the needs that it has no grant for."""
        now = datetime.now(UTC)
        rows = [
            {
                "tool": tool,
                "key": _digest(need),
                "version": version,
                "need": need.model_dump_json(),
                "owner": owner,
                "at": now,
            }
            for need in self.ungranted(tool, needs)
        ]
        if rows:
            with writing(self._engine) as connection:
                for row in rows:
                    its = (_GRANTS.c.tool == tool) & (_GRANTS.c.key == row["key"])
                    connection.execute(_GRANTS.delete().where(its))
                    connection.execute(_GRANTS.insert().values(**row))

    def revoke(self, tool: str, name: str = "") -> int:
        """Ask again before the tool has what is named so, or anything; returns how many grants
        there were.
        """
        keys = {_digest(grant.need) for grant in self.read(tool) if name in ("", grant.need.name)}
        its = (_GRANTS.c.tool == storable(tool)) & _GRANTS.c.key.in_(keys)
        with writing(self._engine) as connection:
            return connection.execute(_GRANTS.delete().where(its)).rowcount


def _covers(grant: Need, need: Need) -> bool:
    if isinstance(grant, CallLimits) and isinstance(need, CallLimits):
        pairs = zip(dict(grant).values(), dict(need).values(), strict=True)
        return all((more or 0) >= (less or 0) for more, less in pairs)
    return grant.key == need.key


def _digest(need: Need) -> str:
    return hashlib.sha256(need.key.encode()).hexdigest()
