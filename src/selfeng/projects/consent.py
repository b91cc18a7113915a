"""Consent: what a build asks the person, through the terminal, a program or the page."""

import asyncio
from typing import Literal, Protocol

from selfeng.core.project_events import ProjectActChosen

Decision = Literal["act", "act_on", "stop"]
"""Do it; do it and don't ask again; end the build."""
ApprovalReply = Literal["act", "act_on", "approve", "refuse", "pause"]
"""A person's reply to a build that runs elsewhere: do the step; do it and don't ask again; install
the package; do without it; ask from the next step on. To end the build, stop its turn.
"""


class Consent(Protocol):
    pausing: bool
    """Whether the person wants to be asked before the next action, although the options don't say
    so.
    """

    async def to_act(self, act: ProjectActChosen) -> Decision:
        """Step mode: whether to do what was chosen."""

    async def to_package(self, package: str, reasoning: str) -> bool:
        """Whether a package that the options allow may be installed for this project."""


class AutoApprove:
    """Approves every step and refuses every package."""

    pausing = False

    async def to_act(self, act: ProjectActChosen) -> Decision:
        return "act"

    async def to_package(self, package: str, reasoning: str) -> bool:
        return False


class PendingApproval:
    """Approval by a person who follows the build's events; a question waits for the reply."""

    def __init__(self, asks: bool) -> None:
        self.pausing = asks
        self._question: asyncio.Future[ApprovalReply] | None = None
        self._answers: frozenset[ApprovalReply] = frozenset()

    async def to_act(self, act: ProjectActChosen) -> Decision:
        await self._reply("act", "act_on")
        return "act"

    async def to_package(self, package: str, reasoning: str) -> bool:
        return await self._reply("approve", "refuse") == "approve"

    def answer(self, reply: ApprovalReply) -> bool:
        """Take the person's reply; False if it changes nothing, because it answers no open
        question.
        """
        before = self.pausing
        if reply in ("pause", "act_on"):
            self.pausing = reply == "pause"
        answers = (
            self._question is not None and not self._question.done() and reply in self._answers
        )
        if self._question is not None and answers:
            self._question.set_result(reply)
        return answers or self.pausing != before

    async def _reply(self, *answers: ApprovalReply) -> ApprovalReply:
        self._question, self._answers = (
            asyncio.get_running_loop().create_future(),
            frozenset(answers),
        )
        return await self._question
