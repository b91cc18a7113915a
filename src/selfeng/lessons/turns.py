"""The turns to learn from: which have ended and were not looked at yet, and what happened in them."""

from typing import Any

import sqlalchemy as sa

from selfeng.core.events import Event
from selfeng.store.database import reading
from selfeng.store.journal import read_record
from selfeng.store.schema import events, examined_turns, turns


class Turns:
    """Reads the journal. All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def unexamined(self) -> tuple[str, ...]:
        """Ids of the turns that have ended and were not looked at, the oldest first."""
        examined = sa.select(examined_turns.c.turn_id)
        ended = (turns.c.state != "running") & turns.c.id.not_in(examined)
        with reading(self._engine) as connection:
            return tuple(connection.scalars(sa.select(turns.c.id).where(ended).order_by(turns.c.started_at, turns.c.id)))

    def events(self, turn_id: str) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        """The events of a turn that has ended, and those of the turn that ended before it in its conversation; none for other ids."""
        with reading(self._engine) as connection:
            row = connection.execute(sa.select(turns).where((turns.c.id == turn_id) & (turns.c.state != "running"))).first()
            if row is None:
                return (), ()
            earlier = (turns.c.conversation_id == row.conversation_id) & (turns.c.started_at < row.started_at)
            query = sa.select(turns.c.id).where(earlier).order_by(turns.c.started_at.desc(), turns.c.id)
            before = connection.scalar(query.limit(1))
            return _events(connection, turn_id), _events(connection, before)


def _events(connection: sa.Connection, turn_id: str | None) -> tuple[Event, ...]:
    rows: list[sa.Row[Any]] = list(connection.execute(sa.select(events).where(events.c.turn_id == turn_id).order_by(events.c.seq)))
    return tuple(record.event for row in rows if (record := read_record(row)))
