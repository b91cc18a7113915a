"""Effects of the steps of turns, each of which happens once: its key is stored in the same
transaction.
"""

import sqlalchemy as sa

from selfeng.store.schema import effects


def known_effect(connection: sa.Connection, key: str) -> str | None:
    """The outcome of the effect with this key; None if it has not happened, or has no key."""
    if not key:
        return None
    return connection.scalar(sa.select(effects.c.outcome).where(effects.c.key == key))


def note_effect(connection: sa.Connection, key: str, outcome: str = "") -> None:
    """Record that the effect of this key has happened, unless it has none."""
    if key:
        connection.execute(effects.insert().values(key=key, outcome=outcome))


def forget_effects(connection: sa.Connection, turn_id: str) -> None:
    """Forget those of a turn that has ended: nothing repeats its steps."""
    connection.execute(effects.delete().where(effects.c.key.startswith(turn_id, autoescape=True)))
