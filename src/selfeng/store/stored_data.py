"""What is stored of a person, for how long, and its deletion."""

from collections.abc import Mapping
from typing import Any, Literal

import sqlalchemy as sa

from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import reading, writing
from selfeng.store.journal import Journal

_CONVERSATIONS, _TURNS = schema.conversations, schema.turns
_EVIDENCE = schema.lesson_evidence.c

DataKind = Literal[
    "conversations",
    "files",
    "results",
    "links",
    "schedules",
    "proposals",
    "grants",
    "spending",
    "lessons",
]

_OWNED: Mapping[DataKind, sa.Table] = {
    "schedules": schema.schedules,
    "proposals": schema.proposals,
    "grants": schema.grants,
    "spending": schema.spending,
}


class StoredKind(Value):
    """Data of one kind."""

    kind: DataKind
    count: int
    size: int | None = None
    """Bytes, where they are counted."""


class StoredData(Value):
    """What is stored of a person."""

    kinds: tuple[StoredKind, ...]
    keep_days: int
    """Days for which a conversation without a new turn is kept; 0: until it is deleted."""


class PersonalData:
    """What is stored of persons. Blocking."""

    def __init__(self, engine: sa.Engine, journal: Journal) -> None:
        self._engine, self._journal = engine, journal

    def report(self, owner: str) -> StoredData:
        """What is stored of an owner, without tools, which belong to all."""
        conversations = _conversations(owner)
        learnt = sa.select(_EVIDENCE.lesson_id).where(_EVIDENCE.turn_id.in_(_turns(conversations)))
        files, results = (
            sa.select(table.c.sha256).where(table.c.conversation_id.in_(conversations)).distinct()
            for table in (schema.files, schema.results)
        )
        links = sa.select(schema.shares.c.id).where(
            schema.shares.c.conversation_id.in_(conversations)
        )
        rows: dict[DataKind, sa.Select[Any]] = {
            "conversations": conversations,
            "files": files,
            "results": results,
            "links": links,
            **{kind: _rows(table, owner) for kind, table in _OWNED.items()},
            "lessons": learnt.distinct(),
        }
        kinds = [StoredKind(kind=kind, count=self._count(query)) for kind, query in rows.items()]
        sizes: dict[DataKind, int] = {kind: self._size(rows[kind]) for kind in ("files", "results")}
        return StoredData(
            kinds=tuple(k.model_copy(update={"size": sizes.get(k.kind)}) for k in kinds),
            keep_days=self._journal.keep_days(),
        )

    def requests(self, owner: str) -> list[tuple[str, str]]:
        """Tools with the requests of the owner that find them."""
        texts = [
            sa.select(text).where(_TURNS.c.conversation_id.in_(_conversations(owner)))
            for text in (_TURNS.c.request, _TURNS.c.standalone)
        ]
        taught = schema.tool_requests.c
        query = sa.select(taught.name, taught.request).where(taught.request.in_(sa.union(*texts)))
        with reading(self._engine) as connection:
            return [(row.name, row.request) for row in connection.execute(query)]

    def delete(self, owner: str) -> None:
        """Delete the owner's conversations with files and results, links, schedules, proposals,
        grants and spending, and the lessons that only they taught.
        """
        conversations, lessons = _conversations(owner), schema.lessons
        with writing(self._engine) as connection:
            for table in _OWNED.values():
                connection.execute(table.delete().where(table.c.owner == owner))
            of_owner = _EVIDENCE.turn_id.in_(_turns(conversations))
            learnt = connection.scalars(
                sa.select(_EVIDENCE.lesson_id).where(of_owner).distinct()
            ).all()
            connection.execute(schema.lesson_evidence.delete().where(of_owner))
            unproved = ~sa.exists().where(_EVIDENCE.lesson_id == lessons.c.id)
            connection.execute(lessons.delete().where(lessons.c.id.in_(learnt), unproved))
            ids = [row.id for row in connection.execute(conversations)]
        self._journal.remove_conversations(ids)

    def _count(self, query: sa.Select[Any]) -> int:
        counted = sa.select(sa.func.count()).select_from(query.subquery())
        with reading(self._engine) as connection:
            return int(connection.scalar(counted) or 0)

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


def _turns(conversations: sa.Select[tuple[str]]) -> sa.Select[tuple[str]]:
    return sa.select(_TURNS.c.id).where(_TURNS.c.conversation_id.in_(conversations))
