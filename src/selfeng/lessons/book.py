"""The book of lessons: all lessons, those relevant to a task, and the changes made by each examined
turn.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from selfeng.core.errors import ResourceNotFound
from selfeng.core.lesson import AgentKind, Lesson
from selfeng.core.protocols import Embedder
from selfeng.core.value import Value
from selfeng.lessons import rows
from selfeng.lessons.transcript import LessonOutcome
from selfeng.store.database import fetch_value, reading, writing
from selfeng.store.journal import mark_examined
from selfeng.store.news import announce
from selfeng.store.schema import examined_turns, lesson_evidence, lessons
from selfeng.store.text import storable

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

    def lessons(self) -> tuple[Lesson, ...]:
        """All lessons, highest weight first, expired ones last."""
        with reading(self._engine) as connection:
            return rows.load(connection)

    def relevant(self, agent: AgentKind, about: str, limit: int) -> tuple[Lesson, ...]:
        """The lessons for an agent with a trigger near its task, best first. Raises:
        EmbedderUnavailable.
        """
        with reading(self._engine) as connection:
            active_lessons = [
                lesson for lesson in rows.load(connection, agent) if not lesson.expired
            ]
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
            if not rows.change(connection, storable(lesson_id), **words, **rows.FRESH):
                raise _unknown(lesson_id)
            announce(connection, "lessons")
            return rows.load(connection, lesson_id=lesson_id)[0]

    def remove(self, lesson_id: str) -> None:
        """Raises: ResourceNotFound if the id is unknown."""
        with writing(self._engine) as connection:
            of_lesson = lesson_evidence.c.lesson_id == storable(lesson_id)
            connection.execute(lesson_evidence.delete().where(of_lesson))
            deletion = lessons.delete().where(lessons.c.id == storable(lesson_id))
            if not connection.execute(deletion).rowcount:
                raise _unknown(lesson_id)
            announce(connection, "lessons")

    def is_examined(self, turn_id: str) -> bool:
        with reading(self._engine) as connection:
            return rows.is_examined(connection, turn_id)

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
            if rows.is_examined(connection, turn_id):
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
            if rows.is_examined(connection, turn_id):
                return ()
            mark_examined(connection, turn_id, digest)
            lessons_by_id = {lesson.id: lesson for lesson in rows.load(connection)}
            for outcome in outcomes:
                if outcome.lesson_id in lessons_by_id:
                    rows.credit(connection, lessons_by_id[outcome.lesson_id], outcome.helped)
            if outcomes or findings:
                announce(connection, "lessons")
            taught = dict.fromkeys(_enter(connection, turn_id, finding) for finding in findings)
            return tuple(
                lesson
                for lesson_id in taught
                for lesson in rows.load(connection, lesson_id=lesson_id)
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
    agent_lessons = rows.load(connection, finding.agent)
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
        return rows.insert(connection, finding.agent, trigger, advice, turn_id)
    if turn_id not in same.evidence:
        rows.confirm(connection, same)
        rows.add_evidence(connection, same.id, turn_id)
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
