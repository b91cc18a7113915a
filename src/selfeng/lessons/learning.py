"""Learning: the lessons of earlier turns, shown to the agents that they concern, and gathered from
turns that have ended.
"""

import asyncio
import logging
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from selfeng.core.errors import AgentError
from selfeng.core.lesson import AgentKind, Lesson, LessonHint
from selfeng.core.turn import Recall
from selfeng.core.visible import one_line
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learner import Examined, Learner, Turns
from selfeng.runtime import PromisingContext

log = logging.getLogger(__name__)


class Learning:
    """What was learnt, and how more is; lives on the event loop that it was made on."""

    def __init__(
        self,
        learner: Learner,
        book: LessonBook,
        turns: Turns,
        *,
        shown: int,
        expire_days: int,
    ) -> None:
        """`shown`: lessons that an agent is shown at most."""
        self._learner, self._book, self._turns = learner, book, turns
        self._shown, self._expire_days = shown, expire_days
        self._listeners: list[Callable[[], None]] = []
        self._background = PromisingContext()
        self._one_at_a_time = asyncio.Lock()

    def recall(self) -> Recall:
        """One turn's access to the lessons. An error in them never fails a turn: it continues
        without.
        """
        recalled: dict[tuple[AgentKind, str], tuple[LessonHint, ...]] = {}

        async def recall(agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
            if (agent, about) not in recalled:
                recalled[agent, about] = await self._relevant(agent, about)
            return recalled[agent, about]

        return recall

    def begin(self, turn_id: str) -> None:
        """Look at a turn that has ended, in the background."""
        self._background.start(self._examine_quietly(turn_id))

    async def settle(self) -> None:
        """Wait until no turn is being examined."""
        await self._background.aflush_tasks()

    async def learn(self, report: Callable[[Lesson], None]) -> int:
        """Look at all turns that have ended and were not looked at yet, and report each lesson; the
        number of turns.

        Raises:
            ModelUnavailable, EmbedderUnavailable: the rest stays to be looked at.
        """
        unexamined = await asyncio.to_thread(self._turns.unexamined)
        for turn_id in unexamined:
            for lesson in (await self._examine(turn_id)).taught:
                report(lesson)
        await asyncio.to_thread(self._book.expire_unused, self._expire_days)
        return len(unexamined)

    async def lessons(self) -> tuple[Lesson, ...]:
        """All, the weightiest first, expired ones last."""
        return await asyncio.to_thread(self._book.lessons)

    async def edit(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        """Reword a lesson and restart its counts. Raises: RequestError: there is none of that
        id.
        """
        words = one_line(trigger.strip()), one_line(advice.strip())
        lesson = await asyncio.to_thread(self._book.edit, lesson_id, *words)
        self._tell()
        return lesson

    async def remove(self, lesson_id: str) -> None:
        """Raises: RequestError: there is none of that id."""
        await asyncio.to_thread(self._book.remove, lesson_id)
        self._tell()

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have every change of the lessons from now on told, on the event loop; returns what ends
        that.
        """
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    async def aclose(self) -> None:
        """Give up what is being looked at; it stays to be looked at."""
        self._background.cancel()
        await self._background.aflush_tasks()

    def _tell(self) -> None:
        for callback in tuple(self._listeners):
            callback()

    async def _relevant(self, agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
        try:
            found = (
                await asyncio.to_thread(self._book.relevant, agent, about, self._shown)
                if self._shown
                else ()
            )
        except (AgentError, SQLAlchemyError):
            log.warning("the lessons for %s can't be looked up", agent, exc_info=True)
            return ()
        return tuple(lesson.hint() for lesson in found)

    async def _examine(self, turn_id: str) -> Examined:
        async with self._one_at_a_time:
            examined = await self._learner.examine(turn_id)
        if examined.changed:
            self._tell()
        return examined

    async def _examine_quietly(self, turn_id: str) -> None:
        try:
            await self._examine(turn_id)
            await asyncio.to_thread(self._book.expire_unused, self._expire_days)
        except AgentError as error:
            log.info("skipped learning from turn %s: %s", turn_id, error)
        except Exception:  # the edge of a background task: nothing may follow from it but the log
            log.exception("learning from turn %s failed", turn_id)
