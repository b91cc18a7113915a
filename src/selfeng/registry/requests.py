"""The requests by which a tool is found: those written with it, and the newest ones that it has served."""

from collections.abc import Iterable
from datetime import UTC, datetime

import sqlalchemy as sa

from selfeng.store.schema import tool_requests

MOST_USED = 15
"""Of a tool; the oldest make room."""


def used(connection: sa.Connection, name: str) -> tuple[str, ...]:
    """What the tool has served, the newest first."""
    chosen = sa.select(tool_requests.c.request).where(tool_requests.c.name == name)
    return tuple(connection.execute(chosen.order_by(tool_requests.c.at.desc(), tool_requests.c.request)).scalars())


def keep(connection: sa.Connection, name: str, requests: Iterable[str]) -> None:
    """Have the tool's used requests be these, the newest first."""
    wanted = list(requests)
    ours = tool_requests.c.name == name
    present = set(connection.execute(sa.select(tool_requests.c.request).where(ours)).scalars())
    connection.execute(tool_requests.delete().where(ours, tool_requests.c.request.not_in(wanted)))
    for request in wanted:
        if request not in present:
            connection.execute(tool_requests.insert().values(name=name, request=request, at=datetime.now(UTC)))


def distinct(requests: Iterable[str]) -> tuple[str, ...]:
    """Without those that differ from an earlier one by case and white space only."""
    first: dict[str, str] = {}
    for request in requests:
        first.setdefault(same(request), request)
    return tuple(first.values())


def same(request: str) -> str:
    """Equal for requests that count as one."""
    return " ".join(request.split()).casefold()
