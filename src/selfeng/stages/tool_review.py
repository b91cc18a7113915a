"""Tool review: a person edits a tool, which the gate judges, accepts or refuses proposals, and
forgets requests that a tool is found by; and the earlier answers of a tool that has changed.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import AgentError, LibraryError, RequestError, ResourceNotFound
from selfeng.core.events import AnswerCorrected, AnswersRecomputed, Record
from selfeng.core.owner import owned_by
from selfeng.core.provenance import Behaviour, Corrected, Merged, Proposal, Provenance
from selfeng.core.result import EarlierCall, RecomputedAnswers, ToolEdit
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.turn import texts_in
from selfeng.core.verdict import Raised, Verdict
from selfeng.core.words import LEFT_OUT
from selfeng.library.tool_editor import Proposals, proposal_of
from selfeng.library.versions import difference
from selfeng.stages.execution.outcome import changed
from selfeng.stages.executor import Executor
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis.probe import outcome_of, same
from selfeng.synthesis.relatives import joint_suite, renamed
from selfeng.synthesis_engine import SynthesisEngine

log = logging.getLogger(__name__)


class EarlierAnswers:
    """Used on the engine's loop. After a correction, those that it concerns are computed again,
    concurrently with its turn, and an event says how many changed.
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
        """The values that the newest version of a tool returns for the calls of `owner`'s earlier
        answers, the newest 200. Nothing is stored.

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

    async def check_merged(self, owner: str, target: Tool, duplicate: Tool) -> None:
        """Check that the target returns what is recorded of the calls of both tools, the newest 200
        of each person; for calls of former versions, it may be what the tool returns now.

        Raises: RequestError: it does not; SandboxError.
        """
        for tool in (target, duplicate):
            since = (await self._library.version(tool.name, tool.version)).created_at
            for caller in await asyncio.to_thread(self._files.callers, tool.name):
                recorded = self._recorded(caller, tool.name, datetime.now(UTC))
                with owned_by(caller):
                    while pair := await asyncio.to_thread(next, recorded, None):
                        call, again = pair
                        if again and (
                            problem := await self._differs(target, tool, call, again, since)
                        ):
                            words = problem if caller == owner else "for another person's call"
                            raise _not_merged(target, duplicate, f"they differ {words}")

    async def _differs(
        self, target: Tool, tool: Tool, call: EarlierCall, again: KnownCall, since: datetime
    ) -> str:
        """How the target differs for a recorded call of a tool whose version was made then; "" if
        it does not, or can't take the call.
        """
        arguments = again.arguments or {}
        if arguments and tool is not target:
            arguments = renamed(tool.signature, target.signature, arguments) or {}
        now = await self._executor().try_out(target, target.code, arguments, again.files)
        if now.no_exchange or not (change := changed(call, now)):
            return ""
        if call.at < since:
            then = await self._executor().try_out(tool, tool.code, again.arguments, again.files)
            before, after = outcome_of(then), outcome_of(now)
            if before and after and same(before, after):
                return ""
        return f"for {change.arguments}: {change.before} before, {change.after} now"

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

    async def used_requests(self, owner: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The requests that each tool served and is found by, only those of `owner`, newest
        first.
        """
        requests_by_name = await self._library.used_requests(names)
        requests = [request for of_tool in requests_by_name.values() for request in of_tool]
        own_requests = await asyncio.to_thread(self._journal.said, owner, requests)
        return {
            name: tuple(request for request in of_tool if request in own_requests)
            for name, of_tool in requests_by_name.items()
        }

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        """Remove a learned request from a tool; returns the remaining ones.

        Raises:
            ResourceNotFound: the tool has learned no such request of `owner`.
        """
        if request not in (await self.used_requests(owner, [name]))[
            name
        ] or not await self._library.forget_request(name, request):
            raise ResourceNotFound(
                f"{name} has learned no request {request[:80]!r} of yours",
                f"`selfeng tools {name}` lists those asked at the terminal",
            )
        return (await self.used_requests(owner, [name]))[name]

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

    async def propose(
        self, owner: str, tool: Tool | None, draft: ToolDraft, provenance: Provenance
    ) -> Proposal:
        """Let a new tool, or an update of one from elsewhere, wait for its person, with how it
        fails the tool's present tests and the person's recorded calls. Raises: SandboxError.
        """
        objections: tuple[str, ...] = ()
        if tool:
            recorded = await self._earlier_answers.calls(owner, tool.name)
            with owned_by(owner):
                objections = await self._synthesis().objections(tool, draft, recorded)
        based_on = tool.version if tool else 0
        proposal = proposal_of(draft, based_on, provenance)
        proposal = proposal.model_copy(update={"objections": objections})
        await asyncio.to_thread(self._proposals.put, owner, proposal)
        return proposal

    async def accept(self, owner: str, name: str, *, anyway: bool = False) -> Tool:
        """Put a proposal, waiting or refused, into the library; `anyway`: also one that fails the
        person's own tests or recorded calls.

        Raises: ResourceNotFound; RequestError: it does; VersionConflict: the tool has changed
        meanwhile; ToolExists, LibraryError.
        """
        proposal = await self.proposal(owner, name)
        if proposal.objections and not anyway:
            raise RequestError(
                f"version {proposal.version} of {name} is not accepted: {proposal.objections[0]}",
                f"`selfeng proposals {name}` shows all that differs, and "
                f"`selfeng accept {name} --anyway` takes it",
                cause="conflict",
            )
        with owned_by(owner):
            if proposal.based_on:
                tool = await self._library.revise(
                    proposal.draft(), proposal.based_on, proposal.provenance
                )
            else:
                tool = await self._library.add(proposal.draft(), proposal.provenance)
        await asyncio.to_thread(self._proposals.remove, owner, name)
        origin = proposal.provenance.origin
        if isinstance(origin, Merged):
            await self._library.retire(origin.tool, name)
        turn_id = origin.turn_id if isinstance(origin, Corrected) else ""
        conversation_id = await asyncio.to_thread(self._journal.conversation_of, turn_id)
        if conversation_id:
            event = AnswerCorrected(tool=name, version=tool.version, turn_id=turn_id)
            self._recorder.emit(conversation_id, turn_id, event, scope="accepted", n=1)
        return tool

    async def merge(self, owner: str, into: str, name: str) -> Tool:
        """Merge a tool into another, which passes the tests of both and returns what is recorded of
        both: the next version of that one has all these tests, and searches find it in place of
        the first, which is retired. What is pinned to it goes on. Or a proposal.

        Raises: ToolNotFound, ToolModified; RequestError: they differ in recorded calls, or in
            parameters; SynthesisFailed: the gate refuses it; SandboxError, LibraryError.
        """
        target, duplicate = await self._library.get(into), await self._library.get(name)
        if into == name or "retired" in (target.standing, duplicate.standing):
            raise _not_merged(target, duplicate, "it takes two tools that are not retired")
        tests = await asyncio.to_thread(joint_suite, target, duplicate)
        if tests is None:
            raise _not_merged(target, duplicate, f"{target.signature} can't take its arguments")
        await self._earlier_answers.check_merged(owner, target, duplicate)
        origin = Merged(tool=name, version=duplicate.version)
        with owned_by(owner):
            new = await self._synthesis().save(target, ToolEdit(tests=tests), origin)
        if not isinstance(new, Proposal):
            await self._library.retire(name, into)
        return new

    async def unmerge(self, name: str) -> Tool:
        """Offer a tool again that was merged into another, which loses the tests that it got by
        that, unless it has changed since.

        Raises: ToolNotFound; RequestError: it was not merged.
        """
        if not (target := (await self._library.get(name)).merged_into):
            raise RequestError(f"{name} is merged into no tool", "`selfeng tools` shows which are")
        tool = await self._library.restore(name)
        with suppress(LibraryError):  # it is gone, or edited
            newest, *older = await self._library.versions(target)
            if older and getattr(newest.provenance.origin, "tool", "") == name:
                await self._library.rollback(target, older[0].version)
        return tool

    async def refuse(self, owner: str, name: str, refused: bool = True) -> Proposal:
        """Let a proposal wait no longer; or again, which takes that back. Raises:
        ResourceNotFound.
        """
        proposal = await self.proposal(owner, name)
        proposal = proposal.model_copy(update={"refused": refused})
        await asyncio.to_thread(self._proposals.put, owner, proposal)
        return proposal


def _not_merged(target: Tool, duplicate: Tool, problem: str) -> RequestError:
    return RequestError(
        f"{duplicate.name} can't be merged into {target.name}: {problem}",
        "keep both, or correct the one that is wrong",
    )
