"""Tool review: a person edits a tool, which the gate judges, accepts or refuses proposals, and
forgets requests that a tool is found by.
"""

import asyncio
from collections.abc import Callable

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.events import AnswerCorrected
from selfeng.core.owner import owned_by
from selfeng.core.provenance import Behaviour, Corrected, Proposal
from selfeng.core.result import ToolEdit
from selfeng.core.tool import Tool
from selfeng.core.verdict import Verdict
from selfeng.library.tool_editor import Proposals
from selfeng.library.versions import difference
from selfeng.stages.earlier_answers import EarlierAnswers
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder
from selfeng.synthesis_engine import SynthesisEngine


class ToolReview:
    """Used on the engine's loop."""

    def __init__(
        self,
        library: CapabilityRegistry,
        synthesis: Callable[[], SynthesisEngine],
        *,
        proposals: Proposals,
        journal: Journal,
        recorder: Recorder,
        earlier_answers: EarlierAnswers,
    ) -> None:
        """`synthesis` gives the one in use."""
        self._library, self._synthesis, self._proposals = library, synthesis, proposals
        self._journal, self._recorder = journal, recorder
        self._earlier_answers = earlier_answers
        self._verdicts: dict[tuple[str, str], asyncio.Task[Verdict]] = {}
        """Those on what persons are editing, by owner and tool."""

    async def difference(self, name: str, before: int, after: int) -> str:
        """A unified diff of code and tests of two versions. Raises: VersionNotFound."""
        return difference(
            await self._library.version(name, before), await self._library.version(name, after)
        )

    async def used_requests(self, owner: str, name: str) -> tuple[str, ...]:
        """The requests that a tool served and is found by, only those of `owner`, newest first."""
        used = await self._library.used_requests(name)
        own_requests = await asyncio.to_thread(self._journal.said, owner, used)
        return tuple(request for request in used if request in own_requests)

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        """Remove a learned request from a tool; returns the remaining ones.

        Raises:
            ResourceNotFound: the tool has learned no such request of `owner`.
        """
        if request not in await self.used_requests(
            owner, name
        ) or not await self._library.forget_request(name, request):
            raise ResourceNotFound(
                f"{name} has learned no request {request[:80]!r} of yours",
                f"`selfeng tools {name}` lists those asked at the terminal",
            )
        return await self.used_requests(owner, name)

    async def verdict(
        self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False
    ) -> Verdict:
        """The verdict of its own tests on a tool, or a proposal, as a person edits it; a newer one
        of the same person takes the place of one that runs.

        Raises: ToolNotFound, ToolModified, ResourceNotFound, RequestError, SandboxError.
        """
        if (older := self._verdicts.pop((owner, name), None)) is not None:
            older.cancel()
        synthesis = self._synthesis()
        draft = await synthesis.drafted(await self._base(owner, name, proposed), edit)
        with owned_by(owner):
            task = asyncio.create_task(synthesis.quick_verdict(draft))
        self._verdicts[owner, name] = task
        await asyncio.wait([task])
        if self._verdicts.get((owner, name)) is task:
            del self._verdicts[owner, name]
        if task.cancelled():
            raise RequestError("a newer edit took the place of this one", "wait for its verdict")
        return task.result()

    async def save(self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False) -> Tool:
        """Put what a person edited, or taught, through the gate: the tool's next version, or a
        proposal.

        Raises: as `verdict`; SynthesisFailed: the gate refuses it; VersionConflict, LibraryError.
        """
        with owned_by(owner):
            tool = await self._synthesis().save(await self._base(owner, name, proposed), edit)
        if proposed and not isinstance(tool, Proposal):
            await asyncio.to_thread(self._proposals.remove, owner, name)
        return tool

    async def _base(self, owner: str, name: str, proposed: bool) -> Tool:
        return await (self.proposal(owner, name) if proposed else self._library.get(name))

    async def proposals(self, owner: str) -> tuple[Proposal, ...]:
        """The tools and versions that wait for a person to accept them, by name."""
        return await asyncio.to_thread(self._proposals.of, owner)

    async def proposal(self, owner: str, name: str) -> Proposal:
        """Waiting or refused. Raises: ResourceNotFound."""
        return await asyncio.to_thread(self._proposals.get, owner, name)

    async def behaviour(self, owner: str, name: str) -> Behaviour:
        """How a proposal differs from the version that it follows, also on the person's own earlier
        calls without files. Raises: ResourceNotFound, SandboxError.
        """
        proposal, recorded, tool = await self.proposal(owner, name), [], None
        if proposal.based_on:
            tool = await self._library.get(name)
            recorded = await self._earlier_answers.arguments(owner, name)
        with owned_by(owner):
            return await self._synthesis().behaviour(tool, proposal, recorded)

    async def accept(self, owner: str, name: str) -> Tool:
        """Put a proposal, waiting or refused, into the library.

        Raises: ResourceNotFound; VersionConflict: the tool has changed meanwhile; ToolExists,
        LibraryError.
        """
        proposal = await self.proposal(owner, name)
        if proposal.based_on:
            tool = await self._library.revise(
                proposal.draft(), proposal.based_on, proposal.provenance
            )
        else:
            tool = await self._library.add(proposal.draft(), proposal.provenance)
        await asyncio.to_thread(self._proposals.remove, owner, name)
        origin = proposal.provenance.origin
        turn_id = origin.turn_id if isinstance(origin, Corrected) else ""
        conversation_id = await asyncio.to_thread(self._journal.conversation_of, turn_id)
        if conversation_id:
            event = AnswerCorrected(tool=name, version=tool.version, turn_id=turn_id)
            self._recorder.emit(conversation_id, turn_id, event, scope="accepted", n=1)
        return tool

    async def refuse(self, owner: str, name: str, refused: bool = True) -> Proposal:
        """Let a proposal wait no longer; or again, which takes that back. Raises:
        ResourceNotFound.
        """
        proposal = await self.proposal(owner, name)
        proposal = proposal.model_copy(update={"refused": refused})
        await asyncio.to_thread(self._proposals.put, owner, proposal)
        return proposal
