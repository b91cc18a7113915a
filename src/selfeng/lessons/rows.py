"""The rows of the lessons in SQL, read and written inside the caller's transaction."""

from collections import defaultdict
from datetime import UTC, datetime
from uuid import uuid4

import sqlalchemy as sa

from selfeng.core.lesson import AgentKind, Lesson
from selfeng.store.database import utc
from selfeng.store.schema import conversations, examined_turns, lesson_evidence, lessons, turns

START_WEIGHT = 0.5
LEAST_WEIGHT = 0.2
"""A lesson with less weight expires: after the third failure without any success."""
_GAIN, _LOSS = 0.2, 0.3
"""Shares of the distance to 1 and to 0. A failure counts more: a misleading lesson costs repairs, a
missing one costs nothing extra.
"""

FRESH = {"uses": 0, "helped": 0, "failed": 0, "weight": START_WEIGHT, "expired": False}
"""The counts of a lesson that is new or was reworded."""


def gained(weight: float) -> float:
    """The weight after a lesson helped, or was learned again from another turn."""
    return weight + _GAIN * (1 - weight)


def lost(weight: float) -> float:
    """The weight after the step that was shown the lesson failed."""
    return weight * (1 - _LOSS)


def load(
    connection: sa.Connection, agent: AgentKind | None = None, lesson_id: str | None = None
) -> tuple[Lesson, ...]:
    """All lessons, those for one kind of agent, or one; highest weight first, expired ones last."""
    condition: sa.ColumnElement[bool] = sa.true()
    if agent is not None:
        condition &= lessons.c.agent == agent
    if lesson_id is not None:
        condition &= lessons.c.id == lesson_id
    rows = connection.execute(
        sa.select(lessons)
        .where(condition)
        .order_by(lessons.c.expired, lessons.c.weight.desc(), lessons.c.created_at)
    )
    evidence: defaultdict[str, list[str]] = defaultdict(list)
    theirs = lesson_evidence.c.lesson_id.in_(sa.select(lessons.c.id).where(condition))
    for evidence_row in connection.execute(
        sa.select(lesson_evidence)
        .where(theirs)
        .order_by(lesson_evidence.c.at, lesson_evidence.c.turn_id)
    ):
        evidence[evidence_row.lesson_id].append(evidence_row.turn_id)
    return tuple(_lesson(row, tuple(evidence[row.id])) for row in rows)


def insert(
    connection: sa.Connection, agent: AgentKind, trigger: str, advice: str, turn_id: str
) -> str:
    """Store a new lesson, which a turn taught, and return its id."""
    lesson_id, now = uuid4().hex, datetime.now(UTC)
    words = {"id": lesson_id, "agent": agent, "trigger": trigger, "advice": advice}
    owner = sa.select(conversations.c.owner).join(turns).where(turns.c.id == turn_id)
    connection.execute(
        lessons.insert().values(
            **words,
            **FRESH,
            created_at=now,
            updated_at=now,
            owner=connection.scalar(owner) or "",
        )
    )
    add_evidence(connection, lesson_id, turn_id)
    return lesson_id


def confirm(connection: sa.Connection, lesson: Lesson) -> None:
    """Record that another turn taught the same. A lesson that expired unused comes back; one that
    did not help stays expired.
    """
    now_weight = lesson.weight if lesson.weight < LEAST_WEIGHT else gained(lesson.weight)
    change(connection, lesson.id, weight=now_weight, expired=now_weight < LEAST_WEIGHT)


def add_evidence(connection: sa.Connection, lesson_id: str, turn_id: str) -> None:
    connection.execute(
        lesson_evidence.insert().values(lesson_id=lesson_id, turn_id=turn_id, at=datetime.now(UTC))
    )


def credit(connection: sa.Connection, lesson: Lesson, helped: bool | None) -> None:
    """Count a use, and its outcome if known."""
    match helped:
        case None:
            change(connection, lesson.id, uses=lesson.uses + 1)
        case True:
            change(
                connection,
                lesson.id,
                uses=lesson.uses + 1,
                helped=lesson.helped + 1,
                weight=gained(lesson.weight),
            )
        case False:
            new_weight = lost(lesson.weight)
            expired = lesson.expired or new_weight < LEAST_WEIGHT
            change(
                connection,
                lesson.id,
                uses=lesson.uses + 1,
                failed=lesson.failed + 1,
                weight=new_weight,
                expired=expired,
            )


def is_examined(connection: sa.Connection, turn_id: str) -> bool:
    return (
        connection.scalar(
            sa.select(examined_turns.c.turn_id).where(
                (examined_turns.c.turn_id == turn_id) & (examined_turns.c.unusable == 0)
            )
        )
        is not None
    )


def change(connection: sa.Connection, lesson_id: str, **values: object) -> bool:
    """Set these columns of a lesson; False if the id is unknown."""
    changed = connection.execute(
        lessons.update()
        .where(lessons.c.id == lesson_id)
        .values(**values, updated_at=datetime.now(UTC))
    )
    return changed.rowcount == 1


def _lesson(row: sa.Row[tuple[object, ...]], evidence: tuple[str, ...]) -> Lesson:
    columns = {name: value for name, value in row._asdict().items() if name in Lesson.model_fields}
    return Lesson(
        **columns
        | {
            "evidence": evidence,
            "created_at": utc(row.created_at),
            "updated_at": utc(row.updated_at),
        }
    )
