"""Retention: removes what nothing refers to any more, and what is kept no longer."""

import logging
import time
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from selfeng.core.files import LargeFiles
from selfeng.store import schema
from selfeng.store.database import fetch_column, writing
from selfeng.store.journal import Journal

log = logging.getLogger(__name__)

_PAUSE = timedelta(minutes=50)
"""A sweep is due once in this time, of all processes on a database."""
_SECONDS = 30.0
"""The time limit of a sweep; the next one continues."""
_AT_ONCE = 100  # rows that one transaction deletes
IN_NAME = 8
"""Characters of a conversation's id that end the name of a project of its agents."""


class Retention:
    """Blocking."""

    def __init__(
        self,
        engine: sa.Engine,
        journal: Journal,
        *,
        claim: Callable[[str, timedelta], bool],
        lesson_days: Callable[[], int],
        files: LargeFiles,
        keep_projects: Callable[[Collection[str]], object],
    ) -> None:
        """`claim`: see `Processes`; `lesson_days`: days after which an unused lesson expires, and
        again until it is removed; `keep_projects` removes all projects of agents but those of
        conversations whose ids begin so.
        """
        self._engine, self._journal, self._claim = engine, journal, claim
        self._lesson_days, self._files = lesson_days, files
        self._keep_projects = keep_projects

    def sweep(self) -> None:
        """Remove conversations that are kept no longer, what nothing uses in the folders of this
        machine, and in the database if that is due here.
        """
        self._journal.remove_deleted()
        self.remove_unused(_SECONDS if self._claim("retention", _PAUSE) else 0.0)

    def remove_unused(self, seconds: float = _SECONDS) -> None:
        """Remove what nothing uses: recordings, contents, effects, links, expired lessons, for so
        many seconds, and copies of files and projects of agents. It can be repeated.
        """
        end = time.monotonic() + seconds
        for table, unused in self._unused():
            while time.monotonic() < end and self._delete_some(table, unused) == _AT_ONCE:
                pass
        prefixes = sa.select(sa.func.substr(schema.conversations.c.id, 1, IN_NAME))
        self._keep_projects(frozenset(fetch_column(self._engine, prefixes)))
        self._files.remove_unused()

    def _delete_some(self, table: sa.Table, unused: sa.ColumnElement[bool]) -> int:
        keys = list(table.primary_key.columns)
        key = sa.tuple_(*keys)
        with writing(self._engine) as connection:
            rows = connection.execute(sa.select(*keys).where(unused).limit(_AT_ONCE)).all()
            if rows:
                connection.execute(table.delete().where(key.in_([tuple(row) for row in rows])))
        return len(rows)

    def _unused(self) -> Iterator[tuple[sa.Table, sa.ColumnElement[bool]]]:
        cassettes, contents = schema.cassettes, schema.contents
        tools, versions, uses = schema.tools.c, schema.tool_versions.c, schema.tool_uses
        yield cassettes, _in_none(cassettes.c.sha256, tools.cassette, versions.cassette)
        yield contents, _in_none(contents.c.sha256, schema.files.c.sha256, schema.results.c.sha256)
        current = (tools.name == uses.c.name) & (tools.version == uses.c.version)
        yield uses, ~sa.exists().where(current)
        turns, effects = schema.turns.c, schema.effects
        runs = (turns.state == "running") & effects.c.key.startswith(turns.id)
        yield effects, ~sa.exists().where(runs)
        now, lessons = datetime.now(UTC), schema.lessons
        yield schema.shares, schema.shares.c.expires_at < now
        before = now - 2 * timedelta(days=self._lesson_days())
        yield lessons, lessons.c.expired & (lessons.c.updated_at < before)


def _in_none(
    key: sa.ColumnElement[str], *references: sa.ColumnElement[str | None]
) -> sa.ColumnElement[bool]:
    return sa.and_(*(~sa.exists().where(reference == key) for reference in references))
