"""Consent: what a build asks the person for, through the terminal, a program or the page."""

import asyncio
from typing import Literal, Protocol

from selfeng.core.project_events import ProjectActChosen

Decision = Literal["act", "act_on", "stop"]
"""Do it; do it and don't ask again; end the build."""
Word = Literal["act", "act_on", "approve", "refuse", "pause"]
"""What a person says to a build that runs elsewhere: do the step; do it and don't ask again; install the package; do without it; ask
from the next step on. Who wants to end the build stops its turn."""


class Consent(Protocol):
    @property
    def pausing(self) -> bool:
        """Whether the person wants to be asked before the next action, though the options don't have it."""
        ...

    async def to_act(self, act: ProjectActChosen) -> Decision:
        """Step mode: whether to do what was chosen."""
        ...

    async def to_package(self, package: str, reasoning: str) -> bool:
        """Whether a package that the options allow may be installed for this project."""
        ...


class Given:
    """Consent to every step, and to no package."""

    pausing = False

    async def to_act(self, act: ProjectActChosen) -> Decision:
        return "act"

    async def to_package(self, package: str, reasoning: str) -> bool:
        return False


class Awaited:
    """Consent of a person who follows the build's events and says a word when they like; what was asked waits for it."""

    def __init__(self, asks: bool) -> None:
        self.pausing = asks
        self._question: asyncio.Future[Word] | None = None
        self._answers: frozenset[Word] = frozenset()

    async def to_act(self, act: ProjectActChosen) -> Decision:
        await self._answer("act", "act_on")
        return "act"

    async def to_package(self, package: str, reasoning: str) -> bool:
        return await self._answer("approve", "refuse") == "approve"

    def say(self, word: Word) -> bool:
        """Pass on what the person says; False if it changes nothing, as nothing that it answers was asked."""
        before = self.pausing
        if word in ("pause", "act_on"):
            self.pausing = word == "pause"
        answers = self._question is not None and not self._question.done() and word in self._answers
        if self._question is not None and answers:
            self._question.set_result(word)
        return answers or self.pausing != before

    async def _answer(self, *answers: Word) -> Word:
        self._question, self._answers = asyncio.get_running_loop().create_future(), frozenset(answers)
        return await self._question
