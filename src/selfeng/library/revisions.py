"""The revision of the library: a number in SQL that every change increases, and the tools that
changed since an earlier one.
"""

from collections.abc import Sequence

import sqlalchemy as sa

from selfeng.store.news import announce
from selfeng.store.schema import properties, tool_changes

_COUNTER = properties.c.name == "library_revision"
_CURRENT = sa.select(properties.c.value).where(_COUNTER)


def current(connection: sa.Connection) -> int:
    return int(connection.execute(_CURRENT).scalar_one())


def note(connection: sa.Connection, name: str, embedder: str = "") -> None:
    """Note a change of a tool's record, or of its vector by an embedder, in the transaction that
    makes it.

    The counter's row stays locked until that transaction ends, so that no reader sees a revision
    before a lower one.
    """
    connection.execute(
        properties.update()
        .where(_COUNTER)
        .values(value=sa.cast(sa.cast(properties.c.value, sa.Integer) + 1, sa.Text))
    )
    connection.execute(
        tool_changes.delete().where(
            tool_changes.c.name == name, tool_changes.c.embedder == embedder
        )
    )
    connection.execute(
        tool_changes.insert().values(name=name, embedder=embedder, revision=current(connection))
    )
    announce(connection, "library")


def changed(connection: sa.Connection, since: int, embedders: Sequence[str] = ("",)) -> list[str]:
    """Names of the tools whose record ("") or vector by these embedders changed after that
    revision; they may have been removed.
    """
    conditions = tool_changes.c.revision > since, tool_changes.c.embedder.in_(embedders)
    return list(
        dict.fromkeys(
            connection.execute(sa.select(tool_changes.c.name).where(*conditions)).scalars()
        )
    )
