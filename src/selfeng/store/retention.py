"""The stored data: its places and periods, the parts that are one person's, and their deletion; and
retention, which removes what nothing refers to any more, and what is kept no longer.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa

from selfeng.core.files import LargeFiles
from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import fetch, fetch_column, fetch_value, reading, writing
from selfeng.store.journal import Journal

log = logging.getLogger(__name__)

_PAUSE = timedelta(minutes=50)
"""A sweep is due once in this time, of all processes on a database."""
_SECONDS = 30.0
"""The time limit of a sweep; the next one continues."""
_AT_ONCE = 100  # rows that one transaction deletes
IN_NAME = 8
"""Characters of a conversation's id that end the name of a project of its agents."""

_CONVERSATIONS, _TURNS = schema.conversations, schema.turns
_EVIDENCE = schema.lesson_evidence.c

DataKind = Literal[
    "conversations", "projects", "files", "results", "links", "schedules", "subscriptions",
    "proposals", "grants", "secrets", "spending", "lessons", "tools", "exchanges", "steps",
    "servers", "settings", "keys", "parts", "backups", "system",
]  # fmt: skip
Until = Literal[
    "conversation", "deletion", "end", "decision", "revocation", "use", "version", "turn", "setup",
    "server",
]  # fmt: skip
UNTIL: Mapping[Until, str] = {
    "conversation": "with the conversation",
    "deletion": "until deleted",
    "end": "until the link ends",
    "decision": "until you decide",
    "revocation": "until revoked",
    "use": "while in use",
    "version": "as long as a version needs them",
    "turn": "until the turn ends, or for a day after it failed",
    "setup": "a day longer than needed",
    "server": "as long as the server",
}
"""How long, in words."""
Deletion = Literal["all", "part", "none"]
"""The extent to which the deletion of one person's data takes it; part: only that person's
contributions.
"""


class KindOfData(Value):
    """A kind of data that the program writes."""

    kind: DataKind
    tables: tuple[str, ...] = ()
    """Of the database."""
    places: tuple[str, ...] = ()
    """Patterns of names in DATA_DIR, or the settings that name other folders."""
    until: Until
    setting: str = ""
    """The setting that changes how long it is kept."""
    deletion: Deletion = "none"


def _kind(
    kind: DataKind, where: str, until: Until, deletion: Deletion = "none", setting: str = ""
) -> KindOfData:
    names = where.split()
    tables = tuple(name for name in names if name in schema.metadata.tables)
    places = tuple(name for name in names if name not in tables)
    return KindOfData(
        kind=kind, tables=tables, places=places, until=until, setting=setting, deletion=deletion
    )


DATA_KINDS = (
    _kind(
        "conversations",
        "conversations turns events agents agent_messages examined_turns effects",
        "deletion",
        "all",
        "KEEP_DAYS",
    ),
    _kind("projects", "projects/ delegated/", "deletion", "all"),
    _kind("files", "files contents content_pieces files/", "conversation", "all"),
    _kind("results", "results", "conversation", "all"),
    _kind("links", "shares", "end", "all"),
    _kind("schedules", "schedules", "deletion", "all"),
    _kind("subscriptions", "subscriptions", "deletion", "all"),
    _kind("proposals", "proposals", "decision", "all"),
    _kind("grants", "grants", "revocation", "all"),
    _kind("secrets", "secrets secrets.key", "deletion", "all"),
    _kind("spending", "spending tool_reuses", "deletion", "all"),
    _kind("lessons", "lessons lesson_evidence", "use", "part", "LESSONS_EXPIRE_DAYS"),
    _kind(
        "tools",
        "tools tool_versions tool_uses tool_vectors tool_requests tool_words tool_changes ranking/ "
        "TOOLS_DIR CHROMA_PERSIST_DIR",
        "deletion",
        "part",
    ),
    _kind("exchanges", "cassettes", "version", "part"),
    _kind("steps", "steps.db", "turn", "all"),
    _kind("servers", "server_tools mcp.json", "revocation"),
    _kind("settings", "settings.json", "server"),
    _kind("keys", "signing.key trusted_keys cookie.key", "server"),
    _kind("parts", "PARTS_DIR sandbox/ embedder/ chroma/", "setup"),
    _kind("backups", "before-restore-*.tar.gz", "deletion"),
    _kind("system", "properties processes agent.db .in-use", "server"),
)
"""Everything that is written, but for logs, which go to stderr, and temporary files, which are
removed with the process or the call that made them. The folder `files` has
copies of large contents, which are removed after six hours without use.
"""


class StoredKind(KindOfData):
    """Data of one kind, and how much of it one person has."""

    count: int | None = None
    """None: it is not counted by persons."""
    size: int | None = None
    """Bytes, where they are counted."""


class StoredData(Value):
    """The stored data, and how much of it is one person's."""

    kinds: tuple[StoredKind, ...]
    keep_days: int
    """Days for which a conversation without a new turn is kept; 0: until it is deleted."""


_OWNED: Mapping[DataKind, sa.Table] = {
    "schedules": schema.schedules,
    "subscriptions": schema.subscriptions,
    "proposals": schema.proposals,
    "grants": schema.grants,
    "spending": schema.spending,
}


class PersonalData:
    """The stored data of persons. Blocking."""

    def __init__(self, engine: sa.Engine, journal: Journal, files: LargeFiles) -> None:
        self._engine, self._journal, self._files = engine, journal, files

    def report(self, owner: str) -> StoredData:
        """Everything that is stored, and how much of it is the owner's."""
        conversations = _conversations(owner)
        is_project = _CONVERSATIONS.c.kind == "project"
        files, results = (
            sa.select(table.c.sha256).where(table.c.conversation_id.in_(conversations)).distinct()
            for table in (schema.files, schema.results)
        )
        links = sa.select(schema.shares.c.id).where(
            schema.shares.c.conversation_id.in_(conversations)
        )
        rows: dict[DataKind, sa.Select[Any]] = {
            "conversations": conversations.where(~is_project),
            "projects": conversations.where(is_project),
            "files": files,
            "results": results,
            "links": links,
            "lessons": sa.select(schema.lessons.c.id).where(_taught(owner)),
            **{kind: _rows(table, owner) for kind, table in _OWNED.items()},
            "secrets": _rows(schema.secrets, owner),
        }
        counts = {kind: self._count(query) for kind, query in rows.items()}
        sizes = {"files": self._size(files), "results": self._size(results)}
        return StoredData(
            kinds=tuple(
                StoredKind(**dict(k), count=counts.get(k.kind), size=sizes.get(k.kind))
                for k in DATA_KINDS
            ),
            keep_days=self._journal.keep_days(),
        )

    def requests(self, owner: str) -> dict[str, frozenset[str]]:
        """By tool, the owner's requests that it has learned, without those of others."""
        learned, whose = schema.tool_requests.c, _CONVERSATIONS.c.owner
        query = sa.select(learned.name, learned.request).where(
            (learned.owner == owner) | learned.request.in_(_requests_of(whose == owner)),
            learned.request.not_in(_requests_of(whose != owner)),
        )
        names: dict[str, set[str]] = {}
        for row in fetch(self._engine, query):
            names.setdefault(row.name, set()).add(row.request)
        return {name: frozenset(requests) for name, requests in names.items()}

    def turns(self, owner: str) -> frozenset[str]:
        """Ids of all turns of the owner."""
        return frozenset(fetch_column(self._engine, _turns(_conversations(owner))))

    def delete(self, owner: str) -> None:
        """Delete the owner's conversations with files and results, links, schedules, proposals,
        grants and spending, and the lessons that only they taught.
        """
        conversations, lessons = _conversations(owner), schema.lessons
        with writing(self._engine) as connection:
            for table in (*_OWNED.values(), schema.tool_reuses):
                connection.execute(table.delete().where(table.c.owner == owner))
            connection.execute(lessons.delete().where(_taught(owner)))
            connection.execute(
                schema.lesson_evidence.delete().where(_EVIDENCE.turn_id.in_(_turns(conversations)))
            )
            of_owner = lessons.c.owner == owner
            connection.execute(lessons.update().where(of_owner).values(owner=""))
            ids = [row.id for row in connection.execute(conversations)]
            hashes = set(connection.scalars(_contents(conversations)))
        self._journal.remove_conversations(ids)
        still = sa.select(schema.contents.c.sha256)
        self._files.remove(hashes.difference(fetch_column(self._engine, still)))

    def erase(self) -> None:
        """Take what was deleted out of the files of a SQLite, and out of its index of words; a
        PostgreSQL does so when it vacuums.
        """
        if self._engine.dialect.name != "sqlite":
            return
        optimize = f"INSERT INTO {schema.WORD_INDEX}({schema.WORD_INDEX}) VALUES ('optimize')"  # noqa: S608
        with writing(self._engine) as connection:
            connection.exec_driver_sql(optimize)
        with self._engine.connect() as connection:
            connection.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _count(self, query: sa.Select[Any]) -> int:
        counted = sa.select(sa.func.count()).select_from(query.subquery())
        return fetch_value(self._engine, counted) or 0

    def _size(self, hashes: sa.Select[Any]) -> int:
        """Bytes of these contents."""
        pieces, contents = schema.content_pieces.c, schema.contents.c
        further = sa.select(sa.func.sum(sa.func.length(pieces.content)))
        further = further.where(pieces.sha256.in_(hashes))
        first = sa.select(sa.func.sum(sa.func.length(contents.content)))
        with reading(self._engine) as connection:
            sums = map(connection.scalar, (first.where(contents.sha256.in_(hashes)), further))
            return sum(int(size or 0) for size in sums)


def _conversations(owner: str) -> sa.Select[tuple[str]]:
    return sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)


def _rows(table: sa.Table, owner: str) -> sa.Select[Any]:
    return sa.select(table.c.owner).where(table.c.owner == owner)


def _requests_of(by: sa.ColumnElement[bool]) -> sa.CompoundSelect[Any]:
    """Requests, as they were made and as they stand alone."""
    forms = (_TURNS.c.request, _TURNS.c.standalone)
    return sa.union(
        *(sa.select(form).join(_CONVERSATIONS).where(by, form.is_not(None)) for form in forms)
    )


def _contents(conversations: sa.Select[tuple[str]]) -> sa.CompoundSelect[Any]:
    return sa.union(
        *(
            sa.select(table.c.sha256).where(table.c.conversation_id.in_(conversations))
            for table in (schema.files, schema.results)
        )
    )


def _taught(owner: str) -> sa.ColumnElement[bool]:
    """The lessons that only turns of the owner taught and confirmed."""
    turns, lesson = _turns(_conversations(owner)), schema.lessons.c
    evidence = sa.exists().where(_EVIDENCE.lesson_id == lesson.id)
    return ((lesson.owner == owner) | evidence.where(_EVIDENCE.turn_id.in_(turns))) & ~(
        evidence.where(_EVIDENCE.turn_id.not_in(turns))
    )


def _turns(conversations: sa.Select[tuple[str]]) -> sa.Select[tuple[str]]:
    return sa.select(_TURNS.c.id).where(_TURNS.c.conversation_id.in_(conversations))


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
