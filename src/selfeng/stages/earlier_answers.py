"""Earlier answers: what tools returned in ended turns, and what their newest versions return."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import AgentError, ResourceNotFound
from selfeng.core.events import AnswerCorrected, AnswersRecomputed, Record
from selfeng.core.files import File
from selfeng.core.owner import owned_by
from selfeng.core.result import EarlierCall, RecomputedAnswers
from selfeng.core.turn import texts_in
from selfeng.core.words import is_shortened
from selfeng.stages.execution.outcome import changed
from selfeng.stages.executor import Executor
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal
from selfeng.store.recorder import Recorder

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
            for call in await asyncio.to_thread(self._files.calls, owner, name, made):
                try:
                    arguments, files = await asyncio.to_thread(self._as_called, call)
                except (ValueError, ResourceNotFound):
                    unknown += 1
                    continue
                now = await self._executor().try_out(tool, tool.code, arguments, files)
                changes.append(changed(call, now))
        return RecomputedAnswers(
            tool=name,
            version=tool.version,
            computed=len(changes),
            unknown=unknown,
            changed=tuple(filter(None, changes)),
        )

    async def arguments(self, owner: str, name: str) -> list[dict[str, Any]]:
        """The arguments of `owner`'s earlier calls of a tool without files, the newest 200."""

        def read() -> list[dict[str, Any]]:
            recorded = []
            for call in self._files.calls(owner, name, datetime.now(UTC)):
                try:
                    arguments, files = self._as_called(call)
                except (ValueError, ResourceNotFound):
                    continue
                recorded += [] if files else [arguments]
            return recorded

        return await asyncio.to_thread(read)

    async def settle(self) -> None:
        """Wait until nothing is computed again."""
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

    def _as_called(self, call: EarlierCall) -> tuple[dict[str, Any], list[File]]:
        """The arguments and the files of an earlier call. Blocking.

        Raises: ValueError: the arguments are not kept whole; ResourceNotFound: a file is gone.
        """
        arguments: dict[str, Any] = json.loads(call.arguments)
        names = set(texts_in(arguments))
        if any(map(is_shortened, names)):
            raise ValueError(call.arguments)
        return arguments, [
            self._files.read(call.conversation_id, reference.sha256, reference.name)
            for reference in self._files.newest(call.conversation_id, call.seq)
            if reference.name in names
        ]
