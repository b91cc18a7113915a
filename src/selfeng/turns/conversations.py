"""The conversations of owners: what their turns asked, answered, made and returned."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from functools import partial

from selfeng.core.background import in_thread
from selfeng.core.changes import Changes
from selfeng.core.errors import RequestError
from selfeng.core.events import (
    FINAL,
    LAST_SEQ,
    PlanMade,
    PlanStepChanged,
    Record,
    TurnFinished,
    TurnStarted,
)
from selfeng.core.files import File
from selfeng.core.plan import SavedPlan, SavedStep
from selfeng.core.provenance import ToolVersion
from selfeng.core.result import Result
from selfeng.core.tool import Tool
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.journal import Journal
from selfeng.store.recorder import Feed
from selfeng.turns.turn_registry import TurnRegistry


class Conversations:
    """Used on the engine's loop. A conversation of another owner is refused in the same words as
    one that does not exist.
    """

    def __init__(
        self, journal: Journal, files: ConversationFiles, feed: Feed, turns: TurnRegistry
    ) -> None:
        self._journal, self._files, self._feed, self._turns = journal, files, feed, turns
        self.changed = Changes[[str]]()
        """Told the id of a conversation in the list that changed, "" for any."""

    list = in_thread("_journal", Journal.conversations)
    get = in_thread("_journal", Journal.conversation)
    named = in_thread("_journal", Journal.named_conversation)
    records = in_thread("_journal", Journal.turn)
    turn_after = in_thread("_journal", Journal.turn_after)
    habits = in_thread("_journal", Journal.habits)
    last_uses = in_thread("_journal", Journal.last_uses)
    result_of_turn = in_thread("_files", ConversationFiles.result_of_turn)

    async def fork(self, owner: str, conversation_id: str, turn_id: str) -> str:
        """See `Journal.fork`."""
        new_id = await asyncio.to_thread(self._journal.fork, owner, conversation_id, turn_id)
        self.changed.tell(new_id)
        return new_id

    async def change(self, owner: str, conversation_id: str, change: ConversationChange) -> None:
        """Rename, pin, delete or restore a conversation, or have it seen. Deletion stops its turns;
        it is removed for good after a day.

        Raises: ResourceNotFound: `owner` has no such conversation, or deleted it.
        """
        await asyncio.to_thread(self._journal.change_conversation, owner, conversation_id, change)
        if change.deleted:
            for turn_id in await asyncio.to_thread(self._journal.running, conversation_id):
                if not await self._turns.stop(owner, turn_id, "The conversation was deleted."):
                    await asyncio.to_thread(self._journal.request_stop, owner, turn_id)
            await asyncio.to_thread(self._journal.remove_deleted)
        self.changed.tell(conversation_id)

    async def history(
        self,
        owner: str,
        conversation_id: str,
        after: int = 0,
        *,
        before: int = LAST_SEQ,
        turns: int = 0,
    ) -> tuple[Record, ...]:
        """See `Journal.history`; the feed then has what follows. Raises: ResourceNotFound: `owner`
        has no such conversation.
        """
        await self.get(owner, conversation_id)
        await self._feed.watch(conversation_id)
        read = partial(self._journal.history, before=before, turns=turns)
        return await asyncio.to_thread(read, conversation_id, after)

    async def follow(
        self, owner: str, turn_id: str, after: int = 0
    ) -> AsyncGenerator[Record, None]:
        """The records of a turn after a number, until it has ended. Leaving does not stop it.

        Raises: ResourceNotFound: `owner` has no such turn.
        """
        with self._feed.listening(lambda record: record.turn_id == turn_id) as news:
            stored_records = await self.records(owner, turn_id)
            if not isinstance(stored_records[-1].event, FINAL):
                after = max(after, stored_records[0].seq - 1)
                stored_records = await self.history(owner, stored_records[0].conversation_id, after)
            async for record in _joined(stored_records, news):
                if record.turn_id == turn_id and record.seq > after:
                    yield record
                if record.turn_id == turn_id and isinstance(record.event, FINAL):
                    return

    async def file(self, owner: str, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation. Raises: ResourceNotFound: there is none, or `owner` has no such
        conversation.
        """
        await self.get(owner, conversation_id)
        return await asyncio.to_thread(self._files.read, conversation_id, sha256, name)

    async def result(self, owner: str, conversation_id: str, sha256: str) -> Result:
        """A value of a conversation, whole. Raises: ResourceNotFound: there is none, or `owner` has
        no such conversation.
        """
        await self.get(owner, conversation_id)
        return await asyncio.to_thread(self._files.result, conversation_id, sha256)

    async def examples(self, owner: str, tool: Tool | ToolVersion) -> tuple[str, ...]:
        """As `examples_of`, of one tool."""
        return (await self.examples_of(owner, [tool]))[0]

    async def examples_of(
        self, owner: str, tools: Sequence[Tool | ToolVersion]
    ) -> tuple[tuple[str, ...], ...]:
        """The example requests of each tool, without those that another owner asked before the tool
        existed.
        """
        times_by_request = await asyncio.to_thread(
            self._journal.said_by_others,
            owner,
            [request for tool in tools for request in tool.example_requests],
        )
        return tuple(
            tuple(
                request
                for request in tool.example_requests
                if times_by_request.get(request, tool.created_at) >= tool.created_at
            )
            for tool in tools
        )


async def _joined(
    stored_records: Sequence[Record], news: asyncio.Queue[list[Record]]
) -> AsyncGenerator[Record, None]:
    """The records that are known, then the stored ones of the news that follow on them."""
    for record in stored_records:
        yield record
    last = stored_records[-1].seq if stored_records else 0
    while True:
        for record in await news.get():
            if record.seq > last:
                yield record


def plan_to_tool(records: Sequence[Record]) -> SavedPlan:
    """The plan of the turn whose records these are, with the tools that its steps ran.

    Raises:
        RequestError: the turn had no plan, did not reach its end, or had a step without a tool.
    """
    events = [record.event for record in records]
    plan = next((event for event in events if isinstance(event, PlanMade)), None)
    if plan is None:
        raise RequestError(
            "the turn had no plan",
            "only a request with a plan can be saved as one tool",
            cause="unfinished",
        )
    if not any(isinstance(event, TurnFinished) for event in events):
        raise RequestError(
            "the turn has not finished", "only a plan that succeeded can be saved", cause="running"
        )
    changes = [event for event in events if isinstance(event, PlanStepChanged)]
    started = {event.step for event in changes if event.state == "started"}
    tools = {e.step: e.tool for e in changes if e.state == "finished" and e.step in started}
    steps = []
    for step in plan.steps:
        if (tool := tools.get(step.id)) is None:
            raise RequestError(
                f"the step {step.id} ran no tool",
                "a plan can be saved only if every step ran a tool",
                cause="unfinished",
            )
        steps.append(SavedStep(request=step.request, tool=tool))
    request = next(event.request for event in events if isinstance(event, TurnStarted))
    return SavedPlan(turn_id=records[0].turn_id, request=request, steps=tuple(steps))
