"""A journal, a book of lessons and whoever learns from the one into the other, on a scripted
model.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from selfeng.core.events import (
    Event,
    Limits,
    SynthesisStep,
    TestFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from selfeng.core.verdict import TestResult
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learning import Learner, Learning, LearntLesson, LessonsReply, Turns
from selfeng.store.journal import Journal, JournalEntry
from tests.doubles import ScriptedModel
from tests.embedding.hashing import HashingEmbedder

LIMITS = Limits(calls=3, tokens=20_000, seconds=60)


class Notebook:
    """Everything that learning stands on, in one database."""

    def __init__(
        self,
        database: sa.Engine,
        *replies: LessonsReply | Exception,
        shown: int = 4,
        expire_days: int = 90,
    ) -> None:
        self.database = database
        self.model = ScriptedModel(*replies)
        self.journal = Journal(database, teaches=lambda: self.learning.active)
        self.book, turns = LessonBook(self.database, HashingEmbedder()), Turns(self.database)
        learner = Learner(lambda: self.model, self.book, turns, LIMITS)
        self.learning = Learning(
            learner,
            self.book,
            turns,
            shown_limit=shown,
            expire_days=expire_days,
            unexamined=self.journal.take_over_unexamined,
        )
        self.conversation = self.journal.create_conversation("me", "a conversation")

    def turn(self, *events: Event, conversation: str | None = None) -> str:
        """Keep a turn that has ended; its id."""
        conversation = conversation or self.conversation
        turn_id = self.journal.begin_turn(conversation, "double 4")
        self.journal.append(
            [JournalEntry(conversation, turn_id, datetime.now(UTC), event) for event in events]
        )
        return turn_id

    async def learn(self) -> list[str]:
        """The advice of what was learnt."""
        taught: list[str] = []
        await self.learning.learn(lambda lesson: taught.append(lesson.advice))
        return taught


def lesson(
    advice: str,
    agent: str = "implement",
    trigger: str = "a function doubles a number",
    known: int | None = None,
) -> LearntLesson:
    return LearntLesson.model_validate(
        {"agent": agent, "trigger": trigger, "advice": advice, "known": known}
    )


def reply(*lessons: LearntLesson) -> LessonsReply:
    return LessonsReply(lessons=lessons)


def ended(
    step: str, attempt: int = 1, *, failed: bool = False, text: str = "", artifact: str = ""
) -> SynthesisStep:
    state = "failed" if failed else "finished"
    return SynthesisStep.model_validate(
        {"step": step, "state": state, "attempt": attempt, "text": text, "artifact": artifact}
    )


def repaired(message: str = "assert 4 == 8") -> Sequence[Event]:
    """A turn whose first implementation failed."""
    result = TestResult(test="test_doubles", outcome="failed", seconds=0.1, message=message)
    return (
        TurnStarted(request="double 4"),
        ended(
            "specify",
            text="double_number(number: int) -> int: Double a number.",
            artifact="{}",
        ),
        ended("test", text="1 test", artifact="..."),
        ended("implement", artifact="return number\n"),
        TestFinished(against="implementation", result=result),
        ended("verify", failed=True, text="1 of 1 test failed: test_doubles"),
        ended("implement", 2, artifact="return 2 * number\n"),
        ended("verify", 2, text="1 test"),
        TurnFinished(answer="It is 8.", tool="double_number"),
    )


def smooth(
    request: str = "double 4", answer: str = "It is 8.", tool: str | None = "double_number"
) -> Sequence[Event]:
    """A turn in which all went well."""
    return TurnStarted(request=request), TurnFinished(answer=answer, tool=tool)


def failed(kind: str) -> Sequence[Event]:
    """A turn that gave up after its first implementation failed."""
    last = TurnFailed.model_validate({"where": "implement", "message": "no more", "kind": kind})
    return (*repaired()[:6], last)
