"""The book of lessons: all lessons, those relevant to a task, and the changes made by each examined
turn.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from selfeng.core.errors import ResourceNotFound
from selfeng.core.lesson import AgentKind, Lesson
from selfeng.core.protocols import Embedder
from selfeng.core.value import Value
from selfeng.lessons.transcript import LessonOutcome
from selfeng.store.database import fetch_value, reading, reads, storable, utc, writing
from selfeng.store.journal import mark_examined
from selfeng.store.news import announce
from selfeng.store.schema import conversations, examined_turns, lesson_evidence, lessons, turns

START_WEIGHT = 0.5
LEAST_WEIGHT = 0.2
"""A lesson with less weight expires: after the third failure without any success."""
_GAIN, _LOSS = 0.2, 0.3
"""Shares of the distance to 1 and to 0. A failure counts more: a misleading lesson costs repairs, a
missing one costs nothing extra.
"""

_FRESH = {"uses": 0, "helped": 0, "failed": 0, "weight": START_WEIGHT, "expired": False}
"""The counts of a lesson that is new or was reworded."""


def gained(weight: float) -> float:
    """The weight after a lesson helped, or was learned again from another turn."""
    return weight + _GAIN * (1 - weight)


def lost(weight: float) -> float:
    """The weight after the step that was shown the lesson failed."""
    return weight * (1 - _LOSS)


def _load(
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
    ).all()
    if not rows:
        return ()
    evidence: defaultdict[str, list[str]] = defaultdict(list)
    theirs = lesson_evidence.c.lesson_id.in_(sa.select(lessons.c.id).where(condition))
    for evidence_row in connection.execute(
        sa.select(lesson_evidence)
        .where(theirs)
        .order_by(lesson_evidence.c.at, lesson_evidence.c.turn_id)
    ):
        evidence[evidence_row.lesson_id].append(evidence_row.turn_id)
    return tuple(_lesson(row, tuple(evidence[row.id])) for row in rows)


def _insert(
    connection: sa.Connection, agent: AgentKind, trigger: str, advice: str, turn_id: str
) -> str:
    """Store a new lesson, which a turn taught, and return its id."""
    lesson_id, now = uuid4().hex, datetime.now(UTC)
    words = {"id": lesson_id, "agent": agent, "trigger": trigger, "advice": advice}
    owner = sa.select(conversations.c.owner).join(turns).where(turns.c.id == turn_id)
    connection.execute(
        lessons.insert().values(
            **words,
            **_FRESH,
            created_at=now,
            updated_at=now,
            owner=connection.scalar(owner) or "",
        )
    )
    _add_evidence(connection, lesson_id, turn_id)
    return lesson_id


def _confirm(connection: sa.Connection, lesson: Lesson) -> None:
    """Record that another turn taught the same. A lesson that expired unused comes back; one that
    did not help stays expired.
    """
    now_weight = lesson.weight if lesson.weight < LEAST_WEIGHT else gained(lesson.weight)
    _change(connection, lesson.id, weight=now_weight, expired=now_weight < LEAST_WEIGHT)


def _add_evidence(connection: sa.Connection, lesson_id: str, turn_id: str) -> None:
    connection.execute(
        lesson_evidence.insert().values(lesson_id=lesson_id, turn_id=turn_id, at=datetime.now(UTC))
    )


def _credit(connection: sa.Connection, lesson: Lesson, helped: bool | None) -> None:
    """Count a use, and its outcome if known."""
    match helped:
        case None:
            _change(connection, lesson.id, uses=lesson.uses + 1)
        case True:
            _change(
                connection,
                lesson.id,
                uses=lesson.uses + 1,
                helped=lesson.helped + 1,
                weight=gained(lesson.weight),
            )
        case False:
            new_weight = lost(lesson.weight)
            expired = lesson.expired or new_weight < LEAST_WEIGHT
            _change(
                connection,
                lesson.id,
                uses=lesson.uses + 1,
                failed=lesson.failed + 1,
                weight=new_weight,
                expired=expired,
            )


def _is_examined(connection: sa.Connection, turn_id: str) -> bool:
    return (
        connection.scalar(
            sa.select(examined_turns.c.turn_id).where(
                (examined_turns.c.turn_id == turn_id) & (examined_turns.c.unusable == 0)
            )
        )
        is not None
    )


def _change(connection: sa.Connection, lesson_id: str, **values: object) -> bool:
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


RELEVANT = 0.28
"""Minimum cosine between a trigger and a task for the lesson to be relevant. Of 88 pairs of eight
triggers and eleven tasks, with all-MiniLM-L6-v2, 8 of the 10 matching pairs reach it, and 3 of the
others, the highest with 0.32.
"""
LOOKS = 3
"""How often a turn is examined at most while the model's replies about it are unusable."""
_MOST_VECTORS = 4096

_Vector = npt.NDArray[np.float32]


class Finding(Value):
    """A lesson from one turn, in a model's words."""

    agent: AgentKind
    trigger: str
    advice: str
    same_as: str | None = None
    """Id of the lesson that already says this."""


class LessonBook:
    """All methods block: call them in a thread.

    Vectors are kept in memory only: embedding a trigger takes 2 ms, so edited triggers and another
    embedder need no special handling.
    """

    def __init__(self, engine: sa.Engine, embedder: Embedder) -> None:
        self._engine, self._embedder = engine, embedder
        self._vectors: dict[str, _Vector] = {}

    lessons = reads(_load)
    is_examined = reads(_is_examined)

    def relevant(self, agent: AgentKind, about: str, limit: int) -> tuple[Lesson, ...]:
        """The lessons for an agent with a trigger near its task, best first. Raises:
        EmbedderUnavailable.
        """
        with reading(self._engine) as connection:
            active_lessons = [lesson for lesson in _load(connection, agent) if not lesson.expired]
        cosines = self._cosines(about, [lesson.trigger for lesson in active_lessons])
        near = [
            (cosine * lesson.weight, lesson)
            for cosine, lesson in zip(cosines, active_lessons, strict=True)
            if cosine >= RELEVANT
        ]
        return tuple(lesson for _, lesson in sorted(near, key=lambda n: -n[0])[:limit])

    def nearest(self, text: str, limit: int) -> tuple[Lesson, ...]:
        """The lessons for any agent that are nearest to a text, best first, including expired ones.
        Raises: EmbedderUnavailable.
        """
        all_lessons = self.lessons()
        cosines = self._cosines(
            text, [f"{lesson.trigger}: {lesson.advice}" for lesson in all_lessons]
        )
        return tuple(
            lesson
            for _, lesson in sorted(zip(cosines, all_lessons, strict=True), key=lambda n: -n[0])[
                :limit
            ]
        )

    def edit(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        """Reword a lesson; its counts restart. Raises: ResourceNotFound."""
        with writing(self._engine) as connection:
            words = {"trigger": storable(trigger), "advice": storable(advice)}
            if not _change(connection, storable(lesson_id), **words, **_FRESH):
                raise _unknown(lesson_id)
            announce(connection, "lessons")
            return _load(connection, lesson_id=lesson_id)[0]

    def remove(self, lesson_id: str) -> None:
        """Raises: ResourceNotFound if the id is unknown."""
        with writing(self._engine) as connection:
            of_lesson = lesson_evidence.c.lesson_id == storable(lesson_id)
            connection.execute(lesson_evidence.delete().where(of_lesson))
            deletion = lessons.delete().where(lessons.c.id == storable(lesson_id))
            if not connection.execute(deletion).rowcount:
                raise _unknown(lesson_id)
            announce(connection, "lessons")

    def knows(self, digest: str) -> bool:
        """Whether a turn with the same transcript was examined before."""
        same = (examined_turns.c.digest == digest) & (examined_turns.c.unusable == 0)
        return (
            fetch_value(self._engine, sa.select(examined_turns.c.turn_id).where(same)) is not None
        )

    def leave(self, turn_id: str, digest: str) -> bool:
        """Record that a reply about a turn was unusable. Returns whether the turn is to be examined
        again.
        """
        with writing(self._engine) as connection:
            if _is_examined(connection, turn_id):
                return False
            so_far = sa.select(examined_turns.c.unusable).where(examined_turns.c.turn_id == turn_id)
            if (unusable := max(0, connection.scalar(so_far) or 0) + 1) < LOOKS:
                mark_examined(connection, turn_id, digest, unusable)
            return unusable < LOOKS

    def close(
        self,
        turn_id: str,
        digest: str,
        outcomes: Sequence[LessonOutcome],
        findings: Sequence[Finding],
    ) -> tuple[Lesson, ...]:
        """Record the outcomes and findings of a turn once, even if it is examined twice at the same
        time; returns the lessons that it taught or confirmed.
        """
        with writing(self._engine) as connection:
            if _is_examined(connection, turn_id):
                return ()
            mark_examined(connection, turn_id, digest)
            lessons_by_id = {lesson.id: lesson for lesson in _load(connection)}
            for outcome in outcomes:
                if outcome.lesson_id in lessons_by_id:
                    _credit(connection, lessons_by_id[outcome.lesson_id], outcome.helped)
            if outcomes or findings:
                announce(connection, "lessons")
            taught = dict.fromkeys(_enter(connection, turn_id, finding) for finding in findings)
            return tuple(
                lesson for lesson_id in taught for lesson in _load(connection, lesson_id=lesson_id)
            )

    def expire_unused(self, days: int) -> None:
        """Expire the lessons that were not shown for that many days since they were learnt."""
        learnt_before = datetime.now(UTC) - timedelta(days=days)
        old = (lessons.c.uses == 0) & (lessons.c.updated_at < learnt_before)
        with writing(self._engine) as connection:
            connection.execute(lessons.update().where(old).values(expired=True))

    def _cosines(self, text: str, candidates: Sequence[str]) -> list[float]:
        if not candidates:
            return []
        if len(self._vectors) > _MOST_VECTORS:
            self._vectors = {}
        for candidate in candidates:
            if candidate not in self._vectors:
                self._vectors[candidate] = self._embedder.embed([candidate])[0]
        vector = self._embedder.embed([text])[0]
        return [float(vector @ self._vectors[candidate]) for candidate in candidates]


def _enter(connection: sa.Connection, turn_id: str, finding: Finding) -> str:
    """Store a finding, or the turn as further evidence of the lesson that says the same; returns
    the lesson's id.
    """
    agent_lessons = _load(connection, finding.agent)
    same = next(
        (
            lesson
            for lesson in agent_lessons
            if lesson.id == finding.same_as or _words(lesson) == _words(finding)
        ),
        None,
    )
    if same is None:
        trigger, advice = storable(finding.trigger), storable(finding.advice)
        return _insert(connection, finding.agent, trigger, advice, turn_id)
    if turn_id not in same.evidence:
        _confirm(connection, same)
        _add_evidence(connection, same.id, turn_id)
    return same.id


def _words(lesson: Lesson | Finding) -> tuple[list[str], list[str]]:
    """The words of trigger and advice, without case, spaces and most punctuation, which don't
    change the meaning.
    """
    trigger, advice = (
        re.findall(r"\w+|[^\w\s.,;:'\"`]", text.casefold())
        for text in (lesson.trigger, lesson.advice)
    )
    return trigger, advice


def _unknown(lesson_id: str) -> ResourceNotFound:
    return ResourceNotFound(f"unknown lesson {lesson_id[:40]!r}", "look at the list of lessons")
