"""The learner: examines a finished turn and stores its lessons in the book, with one model call if
there is something to learn.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from selfeng.core.errors import BudgetExceeded, ModelRefused, ModelReplyInvalid
from selfeng.core.events import Event, Limits
from selfeng.core.lesson import AgentKind, Lesson
from selfeng.core.protocols import ModelClient
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.core.visible import one_line
from selfeng.lessons.book import Finding, LessonBook
from selfeng.lessons.transcript import Transcript, outcomes_of, transcript_of
from selfeng.prompts import render
from selfeng.store.database import fetch_column, reading
from selfeng.store.journal import read_record
from selfeng.store.schema import events, examined_turns, turns


class Turns:
    """Reads the journal. All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def unexamined(self) -> tuple[str, ...]:
        """Ids of the ended turns that are still to be examined, oldest first."""
        examined = sa.select(examined_turns.c.turn_id).where(examined_turns.c.unusable == 0)
        condition = (turns.c.state != "running") & turns.c.id.not_in(examined)
        query = sa.select(turns.c.id).where(condition).order_by(turns.c.started_at, turns.c.id)
        return tuple(fetch_column(self._engine, query))

    def events(self, turn_id: str) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
        """The events of an ended turn, and those of the turn that ended before it in its
        conversation; empty for other ids.
        """
        with reading(self._engine) as connection:
            row = connection.execute(
                sa.select(turns).where((turns.c.id == turn_id) & (turns.c.state != "running"))
            ).first()
            if row is None:
                return (), ()
            earlier = (turns.c.conversation_id == row.conversation_id) & (
                turns.c.started_at < row.started_at
            )
            query = (
                sa.select(turns.c.id).where(earlier).order_by(turns.c.started_at.desc(), turns.c.id)
            )
            before = connection.scalar(query.limit(1))
            return _events(connection, turn_id), _events(connection, before)


def _events(connection: sa.Connection, turn_id: str | None) -> tuple[Event, ...]:
    rows: list[sa.Row[Any]] = list(
        connection.execute(
            sa.select(events).where(events.c.turn_id == turn_id).order_by(events.c.seq)
        )
    )
    return tuple(record.event for row in rows if (record := read_record(row)))


MOST = 3
"""Maximum number of lessons that one turn may teach."""
_KNOWN = 12
"""Known lessons that the model is shown, to say which of them it finds again."""
_LONGEST_TRIGGER, _LONGEST_ADVICE = 200, 400

log = logging.getLogger(__name__)


class LearntLesson(Value):
    """One lesson as the model writes it."""

    agent: AgentKind
    trigger: str
    advice: str
    known: int | None
    """The number of the known lesson that says the same, else null."""


class LessonsReply(Value):
    """The lessons that a model learns from a turn; empty where there is nothing to learn."""

    lessons: tuple[LearntLesson, ...]


class Examined(Value):
    taught: tuple[Lesson, ...] = ()
    """The lessons that it taught or confirmed."""
    changed: bool = False
    """Whether the book has changed."""
    unusable: bool = False
    """Whether the model gave no usable reply."""


class Learner:
    """Belongs to one event loop."""

    def __init__(
        self,
        model: Callable[[], ModelClient],
        book: LessonBook,
        turns: Turns,
        limits: Limits,
        *,
        month: Callable[[], Budget | None] = lambda: None,
        spent: Callable[[str, Usage], object] = lambda turn_id, usage: None,
    ) -> None:
        """`model` gives the model in use; `limits` apply to each examined turn, `month` gives the
        budget of all turns in a month. `spent` takes the cost of a turn's lessons; it blocks.
        """
        self._model, self._book, self._turns, self._limits = model, book, turns, limits
        self._month, self._spent = month, spent

    async def examine(self, turn_id: str) -> Examined:
        """Examine a turn, unless it has not ended or was examined before. A turn whose reply is
        unusable is left to be examined again, up to `LOOKS` times.

        Raises:
            ModelUnavailable: the model can't be reached; the turn stays unexamined.
            EmbedderUnavailable: the embedder is unavailable; the turn stays unexamined.
        """
        events, before = await asyncio.to_thread(self._turns.events, turn_id)
        if not events or await asyncio.to_thread(self._book.is_examined, turn_id):
            return Examined()
        transcript = transcript_of(events, before)
        digest = transcript.digest if transcript else ""
        findings: tuple[Finding, ...] | None = ()
        if transcript and not await asyncio.to_thread(self._book.knows, transcript.digest):
            findings = await self._findings(turn_id, transcript)
        if findings is None and await asyncio.to_thread(self._book.leave, turn_id, digest):
            return Examined(unusable=True)
        outcomes = outcomes_of(events)
        taught = await asyncio.to_thread(
            self._book.close, turn_id, digest, outcomes, findings or ()
        )
        return Examined(taught=taught, changed=bool(taught or outcomes), unusable=findings is None)

    async def _findings(self, turn_id: str, transcript: Transcript) -> tuple[Finding, ...] | None:
        """The model's findings; None if its reply can't be used."""
        known_lessons = await asyncio.to_thread(
            self._book.nearest, f"{transcript.request}\n{transcript.record}", _KNOWN
        )
        listed = "\n".join(
            f"{n}. {neighbour.agent}: {neighbour.trigger}: {neighbour.advice}"
            for n, neighbour in enumerate(known_lessons, 1)
        )
        prompt = render(
            "lessons", record=transcript.record, previous=transcript.previous, known=listed
        )
        budget = Budget(self._limits, parent=self._month())
        try:
            reply = await self._model().structured(prompt, LessonsReply, budget)
        except (ModelReplyInvalid, ModelRefused, BudgetExceeded) as error:
            log.info("could not learn from a turn: %s", error)
            return None
        finally:
            await asyncio.to_thread(self._spent, turn_id, budget.usage)
        findings = [_finding(lesson, known_lessons) for lesson in reply.lessons]
        return tuple(finding for finding in findings if finding.trigger and finding.advice)[:MOST]


def _finding(lesson: LearntLesson, known_lessons: tuple[Lesson, ...]) -> Finding:
    """The finding, trigger and advice shortened to one line each; a number counts only for a lesson
    of the same kind of agent.
    """
    index = (lesson.known or 0) - 1
    same = (
        known_lessons[index]
        if 0 <= index < len(known_lessons) and known_lessons[index].agent == lesson.agent
        else None
    )
    trigger, advice = one_line(lesson.trigger.strip()), one_line(lesson.advice.strip())
    return Finding(
        agent=lesson.agent,
        trigger=trigger[:_LONGEST_TRIGGER],
        advice=advice[:_LONGEST_ADVICE],
        same_as=same.id if same else None,
    )
