"""Subscriptions to indexes of other libraries, in SQL."""

from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa

from selfeng.core.value import Value
from selfeng.store.database import fetch_column, storable, writing
from selfeng.store.schema import subscriptions


class Subscription(Value):
    """An index that a person follows, and what of it is known; times are UTC."""

    name: str
    owner: str
    place: str
    """A folder, `git+https://…` or `git+file://…`, or the address of the index."""
    key: str
    """`ssh-ed25519 AAAA…`, which has to sign every bundle."""
    fingerprint: str
    created_at: datetime
    checked_at: datetime | None = None
    problem: str = ""
    """Why the last check ended early."""
    releases: Mapping[str, tuple[int, str]] = {}
    """The newest that the owner knows, by tool: version at the publisher, sha256 of the bundle."""


class Subscriptions:
    """All methods block."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def read(self, owner: str = "") -> tuple[Subscription, ...]:
        """Those of an owner, or of all, by owner and name."""
        query = sa.select(subscriptions.c.subscription)
        query = query.where(subscriptions.c.owner == owner) if owner else query
        order = subscriptions.c.owner, subscriptions.c.name
        texts = fetch_column(self._engine, query.order_by(*order))
        return tuple(map(Subscription.model_validate_json, texts))

    def put(self, subscription: Subscription, *, new: bool = False) -> None:
        """Store a new one, or replace that of its name, if it is still there."""
        its = _is(subscription.owner, subscription.name)
        change = subscriptions.insert() if new else subscriptions.update().where(its)
        row = {"owner": subscription.owner, "name": storable(subscription.name)}
        text = storable(subscription.model_dump_json())
        with writing(self._engine) as connection:
            connection.execute(change.values(**row, subscription=text))

    def remove(self, subscription: Subscription) -> None:
        with writing(self._engine) as connection:
            its = _is(subscription.owner, subscription.name)
            connection.execute(subscriptions.delete().where(its))


def _is(owner: str, name: str) -> sa.ColumnElement[bool]:
    return (subscriptions.c.owner == owner) & (subscriptions.c.name == storable(name))
