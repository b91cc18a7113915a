"""Learning: shows agents the relevant lessons of earlier turns, and gathers lessons from ended
turns.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from selfeng.core.background import BackgroundTasks, in_thread
from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError, BudgetExceeded, ModelRefused, ModelReplyInvalid
from selfeng.core.events import Event, Limits
from selfeng.core.lesson import AgentKind, Lesson, LessonHint
from selfeng.core.protocols import Embedder, ModelClient
from selfeng.core.settings import Settings
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget, Recall
from selfeng.core.value import Value
from selfeng.core.visible import one_line
from selfeng.lessons.book import Finding, LessonBook
from selfeng.lessons.transcript import Transcript, outcomes_of, transcript_of
from selfeng.prompts import render
from selfeng.store.database import fetch_column, reading
from selfeng.store.journal import read_record
from selfeng.store.schema import events, examined_turns, turns
from selfeng.store.spending import Spending

log = logging.getLogger(__name__)

MOST = 3
"""Maximum number of lessons that one turn may teach."""
_KNOWN = 12
"""Known lessons that the model is shown, to name those that it finds again."""
_LONGEST_TRIGGER, _LONGEST_ADVICE = 200, 400
_PAUSE = 60.0
"""Seconds between looks at the turns that other processes left."""


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
    """Examines a finished turn and stores its lessons in the book, with one model call if there is
    something to learn. Belongs to one event loop.
    """

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


class Learning:
    """Access to the lessons, and learning of new ones; bound to the event loop that it was created
    on.
    """

    def __init__(
        self,
        learner: Learner,
        book: LessonBook,
        turns: Turns,
        *,
        shown_limit: int,
        expire_days: int,
        allowed: Callable[[], bool] = lambda: True,
        unexamined: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """`shown_limit`: the maximum number of lessons that an agent is shown. `allowed`: whether
        the settings have ended turns examined. `unexamined` gives the ids of those that ended
        processes left; it blocks.
        """
        self._learner, self._book, self._turns = learner, book, turns
        self._shown_limit, self._expire_days = shown_limit, expire_days
        self._allowed, self._unexamined = allowed, unexamined
        self._watch: asyncio.Task[None] | None = None
        self.changed = Changes[[]]()
        """Told after every change of the lessons."""
        self._background = BackgroundTasks()
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    def from_settings(
        cls,
        settings: Callable[[], Settings],
        database: sa.Engine,
        embedder: Embedder,
        model: Callable[[], ModelClient],
        *,
        unexamined: Callable[[], Iterable[str]],
        spending: Spending,
    ) -> "Learning":
        """The lessons of a database, learnt with the model in use, on the budget of the month.
        `settings` gives the present ones; what limits learning does not change.
        """
        now, book, turns = settings(), LessonBook(database, embedder), Turns(database)
        limits = Limits(
            calls=now.lessons_max_calls,
            tokens=now.lessons_max_tokens,
            seconds=now.lessons_max_seconds,
        )
        return cls(
            Learner(model, book, turns, limits, month=spending.month, spent=spending.add),
            book,
            turns,
            shown_limit=now.lessons_shown,
            expire_days=now.lessons_expire_days,
            allowed=lambda: settings().lessons_learn,
            unexamined=unexamined,
        )

    def recall(self) -> Recall:
        """One turn's access to the lessons. An error never fails a turn: it continues without
        lessons.
        """
        recalled: dict[tuple[AgentKind, str], tuple[LessonHint, ...]] = {}

        async def recall(agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
            if (agent, about) not in recalled:
                recalled[agent, about] = await self._relevant(agent, about)
            return recalled[agent, about]

        return recall

    async def start(self) -> None:
        """From now on, examine each turn that ends, and those that ended processes left."""
        self._watch = asyncio.create_task(self._watch_unexamined(), name="lessons")
        await self._examine_left()

    def stop(self) -> None:
        """Examine no more turns by itself."""
        if self._watch:
            self._watch.cancel()
            self._watch = None

    @property
    def active(self) -> bool:
        """Whether turns that end now are examined."""
        return self._watch is not None and self._allowed()

    def turn_ended(self, turn_id: str) -> None:
        if self.active:
            self.begin(turn_id)

    async def _watch_unexamined(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            try:
                await self._examine_left()
            except Exception as error:  # noqa: BLE001 - the database is away
                log.warning("the turns that are to be examined could not be found: %s", error)

    async def _examine_left(self) -> None:
        for turn_id in await asyncio.to_thread(self._unexamined) if self.active else ():
            self.begin(turn_id)

    def begin(self, turn_id: str) -> None:
        """Examine an ended turn in the background."""
        self._background.start(self._examine_quietly(turn_id))

    async def settle(self) -> None:
        """Wait until no turn is being examined."""
        await self._background.aflush_tasks()

    async def learn(self, report: Callable[[Lesson], None]) -> tuple[int, int]:
        """Examine all ended turns that are still to be examined, and report each lesson; returns
        the number of turns, and for how many of them the model gave no usable reply.

        Raises:
            ModelUnavailable, EmbedderUnavailable: the remaining turns stay unexamined.
        """
        unexamined, unusable = await asyncio.to_thread(self._turns.unexamined), 0
        for turn_id in unexamined:
            examined = await self._examine(turn_id)
            unusable += examined.unusable
            for lesson in examined.taught:
                report(lesson)
        await asyncio.to_thread(self._book.expire_unused, self._expire_days)
        return len(unexamined), unusable

    lessons = in_thread("_book", LessonBook.lessons)

    async def edit(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        """Reword a lesson and restart its counts. Raises: RequestError: the id is unknown."""
        words = one_line(trigger.strip()), one_line(advice.strip())
        lesson = await asyncio.to_thread(self._book.edit, lesson_id, *words)
        self.changed.tell()
        return lesson

    async def remove(self, lesson_id: str) -> None:
        """Raises: RequestError: the id is unknown."""
        await asyncio.to_thread(self._book.remove, lesson_id)
        self.changed.tell()

    async def aclose(self) -> None:
        """Cancel the running examinations; their turns stay unexamined."""
        self.stop()
        await self._background.aclose()

    async def _relevant(self, agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
        try:
            lessons = (
                await asyncio.to_thread(self._book.relevant, agent, about, self._shown_limit)
                if self._shown_limit
                else ()
            )
        except (AgentError, SQLAlchemyError):
            log.warning("the lessons for %s can't be looked up", agent, exc_info=True)
            return ()
        return tuple(lesson.hint() for lesson in lessons)

    async def _examine(self, turn_id: str) -> Examined:
        async with self._one_at_a_time:
            examined = await self._learner.examine(turn_id)
        if examined.changed:
            self.changed.tell()
        return examined

    async def _examine_quietly(self, turn_id: str) -> None:
        try:
            await self._examine(turn_id)
            await asyncio.to_thread(self._book.expire_unused, self._expire_days)
        except AgentError as error:
            log.info("skipped learning from turn %s: %s", turn_id, error)
        except Exception:  # the edge of a background task: its errors are only logged
            log.exception("learning from turn %s failed", turn_id)
