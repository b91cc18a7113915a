"""Tool review: a person edits a tool, which the gate judges, accepts or refuses proposals, and
forgets requests that a tool is found by; and the earlier answers of a tool that has changed.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import AgentError, RequestError, ResourceNotFound
from selfeng.core.events import AnswerCorrected, AnswersRecomputed, Record
from selfeng.core.owner import owned_by
from selfeng.core.provenance import Behaviour, Corrected, Proposal
from selfeng.core.result import EarlierCall, RecomputedAnswers, ToolEdit
from selfeng.core.tool import Tool
from selfeng.core.turn import texts_in
from selfeng.core.verdict import Raised, Verdict
from selfeng.core.words import LEFT_OUT
from selfeng.library.tool_editor import Proposals
from selfeng.library.versions import difference
from selfeng.stages.execution.outcome import changed
from selfeng.stages.executor import Executor
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis_engine import SynthesisEngine

log = logging.getLogger(__name__)


class EarlierAnswers:
    """Used on the engine's loop. After a correction, those that it concerns are computed again,
    beside its turn, and an event says how many changed.
    """

    def __init__(
        self,
        library: CapabilityRegistry,
        executor: Callable[[], Executor],
        *,
        journal: Journal,
        files: ConversationFiles,
        recorder: Recorder,
    ) -> None:
        """`executor` gives the one in use."""
        self._library, self._executor = library, executor
        self._journal, self._files, self._recorder = journal, files, recorder
        self._tasks = BackgroundTasks()
        recorder.subscribe(self._hear)

    async def recompute(self, owner: str, name: str) -> RecomputedAnswers:
        """What the newest version of a tool returns for the calls of `owner`'s earlier answers, the
        newest 200. Nothing is stored.

        Raises: ToolNotFound, ToolModified, SandboxError.
        """
        tool = await self._library.get(name)
        made = (await self._library.version(name, tool.version)).created_at
        changes, unknown = [], 0
        with owned_by(owner):
            recorded = self._recorded(owner, name, made)
            while pair := await asyncio.to_thread(next, recorded, None):
                call, known_call = pair
                if known_call is None:
                    unknown += 1
                    continue
                now = await self._executor().try_out(
                    tool, tool.code, known_call.arguments, known_call.files
                )
                if isinstance(now, Raised) and now.no_exchange:
                    unknown += 1
                    continue
                changes.append(changed(call, now))
        return RecomputedAnswers(
            tool=name,
            version=tool.version,
            computed=len(changes),
            unknown=unknown,
            changed=tuple(filter(None, changes)),
        )

    async def calls(self, owner: str, name: str) -> list[KnownCall]:
        """`owner`'s earlier calls of a tool, the newest 200, with their files."""

        def read() -> list[KnownCall]:
            recorded = self._recorded(owner, name, datetime.now(UTC))
            return [again for _, again in recorded if again]

        return await asyncio.to_thread(read)

    async def settle(self) -> None:
        await self._tasks.aflush_tasks()

    def cancel(self) -> None:
        self._tasks.cancel()

    def _hear(self, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record.event, AnswerCorrected):
                Context().run(self._tasks.start, self._recomputed(record, record.event.tool))

    async def _recomputed(self, record: Record, tool: str) -> None:
        try:
            owner = await asyncio.to_thread(self._journal.owner_of, record.conversation_id)
            report = await self.recompute(owner, tool)
        except AgentError as error:
            log.warning("earlier answers of %s are not computed again: %s", tool, error)
            return
        event = AnswersRecomputed(
            tool=tool,
            version=report.version,
            computed=report.computed,
            changed=len(report.changed),
        )
        self._recorder.emit(record.conversation_id, record.turn_id, event, scope="recall", n=1)

    def _recorded(
        self, owner: str, name: str, before: datetime
    ) -> Iterator[tuple[EarlierCall, KnownCall | None]]:
        """`owner`'s newest calls of a tool that ended before that time, each also as it was made:
        None if its arguments are not kept whole, or a file is gone. Blocking.
        """
        for call in self._files.calls(owner, name, before):
            try:
                yield call, self._as_called(call)
            except (ValueError, ResourceNotFound):
                yield call, None

    def _as_called(self, call: EarlierCall) -> KnownCall:
        """The arguments and the files of an earlier call. Blocking.

        Raises: ValueError: the arguments are not kept whole; ResourceNotFound: a file is gone.
        """
        arguments: dict[str, Any] = json.loads(call.arguments)
        names = set(texts_in(arguments))
        if any(LEFT_OUT in name for name in names):
            raise ValueError(call.arguments)
        files = (
            self._files.read(call.conversation_id, reference.sha256, reference.name)
            for reference in self._files.newest(call.conversation_id, call.seq, after=call.turn_id)
            if reference.name in names
        )
        return KnownCall(arguments=arguments, files=tuple(files))


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
            raise RequestError(
                "a newer edit took the place of this one", "wait for its verdict", cause="conflict"
            )
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
        calls. Raises: ResourceNotFound, SandboxError.
        """
        proposal, recorded, tool = await self.proposal(owner, name), [], None
        if proposal.based_on:
            tool = await self._library.get(name)
            recorded = await self._earlier_answers.calls(owner, name)
        with owned_by(owner):
            return await self._synthesis().behaviour(tool, proposal, recorded)

    async def accept(self, owner: str, name: str) -> Tool:
        """Put a proposal, waiting or refused, into the library.

        Raises: ResourceNotFound; VersionConflict: the tool has changed meanwhile; ToolExists,
        LibraryError.
        """
        proposal = await self.proposal(owner, name)
        with owned_by(owner):
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
