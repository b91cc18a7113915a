"""What is stored of a person, for how long, and its deletion."""

from typing import Literal

import sqlalchemy as sa

from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import reading, writing
from selfeng.store.journal import Journal

_CONVERSATIONS, _TURNS = schema.conversations, schema.turns

DataKind = Literal["conversations", "files", "results", "links", "proposals", "spending", "lessons"]


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
        of_owner = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)
        kinds = [StoredKind(kind="conversations", count=self._count(of_owner))]
        length = sa.func.coalesce(
            sa.select(sa.func.sum(sa.func.length(schema.content_pieces.c.content)))
            .where(schema.content_pieces.c.sha256 == schema.contents.c.sha256)
            .scalar_subquery(),
            0,
        ) + sa.func.length(schema.contents.c.content)
        holders: tuple[tuple[DataKind, sa.Table], ...] = (
            ("files", schema.files),
            ("results", schema.results),
        )
        for kind, table in holders:
            there = table.c.conversation_id.in_(of_owner)
            hashes = sa.select(table.c.sha256).where(there).distinct()
            sizes = sa.select(sa.func.sum(length)).where(schema.contents.c.sha256.in_(hashes))
            with reading(self._engine) as connection:
                size = int(connection.scalar(sizes) or 0)
            kinds.append(StoredKind(kind=kind, count=self._count(hashes), size=size))
        shares, evidence = schema.shares.c, schema.lesson_evidence.c
        learnt = sa.select(evidence.lesson_id).where(evidence.turn_id.in_(_turns(of_owner)))
        queries: dict[DataKind, sa.Select[tuple[str]]] = {
            "links": sa.select(shares.id).where(shares.conversation_id.in_(of_owner)),
            "proposals": sa.select(schema.proposals.c.name).where(
                schema.proposals.c.owner == owner
            ),
            "spending": sa.select(schema.spending.c.turn_id).where(
                schema.spending.c.owner == owner
            ),
            "lessons": learnt.distinct(),
        }
        kinds += [StoredKind(kind=kind, count=self._count(q)) for kind, q in queries.items()]
        return StoredData(kinds=tuple(kinds), keep_days=self._journal.keep_days())

    def requests(self, owner: str) -> list[tuple[str, str]]:
        """Tools with the requests of the owner that find them."""
        of_owner = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)
        texts = [
            sa.select(text).where(_TURNS.c.conversation_id.in_(of_owner))
            for text in (_TURNS.c.request, _TURNS.c.standalone)
        ]
        taught = schema.tool_requests.c
        query = sa.select(taught.name, taught.request).where(taught.request.in_(sa.union(*texts)))
        with reading(self._engine) as connection:
            return [(row.name, row.request) for row in connection.execute(query)]

    def delete(self, owner: str) -> None:
        """Delete the owner's conversations with files and results, links, proposals and spending,
        and the lessons that only they taught.
        """
        of_owner = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)
        evidence, lessons = schema.lesson_evidence.c, schema.lessons
        with writing(self._engine) as connection:
            for table in (schema.proposals, schema.spending):
                connection.execute(table.delete().where(table.c.owner == owner))
            turns = _turns(of_owner)
            learnt = connection.scalars(
                sa.select(evidence.lesson_id).where(evidence.turn_id.in_(turns)).distinct()
            ).all()
            connection.execute(schema.lesson_evidence.delete().where(evidence.turn_id.in_(turns)))
            unproved = ~sa.exists().where(evidence.lesson_id == lessons.c.id)
            connection.execute(lessons.delete().where(lessons.c.id.in_(learnt), unproved))
            ids = connection.scalars(of_owner).all()
        self._journal.remove_conversations(ids)

    def _count(self, query: sa.Select[tuple[str]]) -> int:
        with reading(self._engine) as connection:
            return int(
                connection.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
            )


def _turns(conversations: sa.Select[tuple[str]]) -> sa.Select[tuple[str]]:
    return sa.select(_TURNS.c.id).where(_TURNS.c.conversation_id.in_(conversations))
