"""What a turn was given: all that another process needs to go on with it, as JSON."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from selfeng.core.files import File, FileReference
from selfeng.core.plan import SavedStep
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Answer
from selfeng.core.result import Dispute, EarlierResult, Result
from selfeng.core.turn import EarlierFiles, EarlierResults, Request
from selfeng.core.value import Value


@dataclass(frozen=True)
class Past:
    """Reads the contents that a conversation has."""

    file: Callable[[FileReference], Awaitable[File]]
    result: Callable[[EarlierResult], Awaitable[Result]]


class GivenTurn(Value):
    """A request with the past of its conversation, read once; contents by reference."""

    text: str
    conversation_id: str
    history: tuple[ChatMessage, ...] = ()
    files: tuple[FileReference, ...] = ()
    earlier: tuple[FileReference, ...] = ()
    earlier_results: tuple[EarlierResult, ...] = ()
    answers: tuple[Answer, ...] = ()
    rounds: int = 0
    again: str = ""
    agent: str = ""
    saved_plan: tuple[SavedStep, ...] = ()
    keeps: str = ""
    refactors: str = ""
    disputes: Dispute | None = None
    builds: bool = False
    by_hand: FunctionCall | None = None
    waiting: FunctionCall | None = None
    refused: tuple[str, ...] = ()
    build: Mapping[str, Any] | None = None
    """The options of a project's build, which is all that its turn was given besides."""

    @staticmethod
    def of(request: Request) -> "GivenTurn":
        return GivenTurn(
            text=request.text,
            conversation_id=request.conversation_id,
            history=request.history,
            files=tuple(file.reference() for file in request.files),
            earlier=request.earlier.references,
            earlier_results=request.earlier_results.values,
            answers=request.answers,
            rounds=request.rounds,
            again=request.again,
            agent=request.agent,
            saved_plan=request.saved_plan,
            keeps=request.keeps,
            refactors=request.refactors,
            disputes=request.disputes,
            builds=request.builds,
            by_hand=request.by_hand,
            waiting=request.waiting,
            refused=request.refused,
        )

    async def request(self, past: Past) -> Request:
        """The request once more. Raises: ResourceNotFound: a file of it is gone."""
        return Request(
            self.text,
            self.history,
            tuple([await past.file(reference) for reference in self.files]),
            EarlierFiles(self.earlier, past.file),
            earlier_results=EarlierResults(self.earlier_results, past.result),
            answers=self.answers,
            rounds=self.rounds,
            again=self.again,
            agent=self.agent,
            conversation_id=self.conversation_id,
            saved_plan=self.saved_plan,
            keeps=self.keeps,
            refactors=self.refactors,
            disputes=self.disputes,
            builds=self.builds,
            by_hand=self.by_hand,
            waiting=self.waiting,
            refused=self.refused,
        )
