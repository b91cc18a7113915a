"""Learning: shows agents the relevant lessons of earlier turns, and gathers lessons from ended
turns.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError
from selfeng.core.events import Limits
from selfeng.core.lesson import AgentKind, Lesson, LessonHint
from selfeng.core.protocols import Embedder, ModelClient
from selfeng.core.settings import Settings
from selfeng.core.turn import Recall
from selfeng.core.visible import one_line
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learner import Examined, Learner, Turns
from selfeng.store.spending import Spending

log = logging.getLogger(__name__)

_PAUSE = 60.0
"""Seconds between looks at the turns that other processes left."""


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

    async def lessons(self) -> tuple[Lesson, ...]:
        """All lessons, highest weight first, expired ones last."""
        return await asyncio.to_thread(self._book.lessons)

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
