"""The journal: conversations with their owners, their turns, and every event in order.

All methods block: call them in a thread. `selfeng.store.recorder` writes events from an event loop.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from itertools import islice, takewhile
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import sqlalchemy as sa
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.events import (
    EVENT,
    FINAL,
    LAST_SEQ,
    WRONG_ANSWER,
    AnswerCorrected,
    Event,
    FilesMade,
    NoToolFound,
    QuestionsAsked,
    Record,
    ToolFound,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
    corrected_turns,
)
from selfeng.core.process import is_running, this_process
from selfeng.core.prompt import ChatMessage
from selfeng.core.question import answers_text
from selfeng.core.status import Asked
from selfeng.store import schema
from selfeng.store.conversation_files import brings_contents, keep
from selfeng.store.conversation_list import (
    KEPT_AFTER_DELETION,
    ConversationChange,
    ConversationKind,
    ConversationSummary,
    change_conversation,
    deleted_long_ago,
    find_conversations,
    idle_conversations,
    snippets,
    summaries,
)
from selfeng.store.database import (
    fetch,
    fetch_column,
    fetch_value,
    reading,
    reads,
    storable,
    storable_data,
    utc,
    writing,
)
from selfeng.store.effects import forget_effects
from selfeng.store.habits import read_habits, read_last_uses, read_tool_uses
from selfeng.store.news import announce
from selfeng.store.processes import Processes
from selfeng.store.spending import note_spending
from selfeng.store.turn_queue import MOST_LEASES
from selfeng.store.turn_tree import fork, newest_from, parent_of_new, path

T = TypeVar("T")

log = logging.getLogger(__name__)

_CONVERSATIONS, _TURNS, _EVENTS = schema.conversations, schema.turns, schema.events
_LEASES = (
    sa.select(_TURNS.c.id, _TURNS.c.lease)
    .where(_TURNS.c.id.in_(sa.bindparam("turns", expanding=True)))
    .order_by(_TURNS.c.id)  # in which all lock turns: none waits for one that waits for it
    .with_for_update(read=True)
)
_NUMBERED = (_EVENTS.c.turn_id, _EVENTS.c.scope, _EVENTS.c.n)
_STORED = sa.select(*_NUMBERED, _EVENTS.c.seq, _EVENTS.c.at).where(
    _EVENTS.c.turn_id.in_(sa.bindparam("turns", expanding=True)),  # else SQLite reads all events
    sa.tuple_(*_NUMBERED).in_(sa.bindparam("keys", expanding=True)),
)
_NEW_EVENT = _EVENTS.insert()
_ACTIVE = sa.select(_CONVERSATIONS.c.kind, _CONVERSATIONS.c.active_at).where(
    _CONVERSATIONS.c.id == sa.bindparam("conversation")
)
"""Statements of each turn and batch of events: making one takes as long as running it."""
_SERVER_ENDED = "The server ended while this was running."
_LONGEST_TURN = timedelta(days=1)
"""A turn of a server on another machine, which can't be checked, counts as abandoned after this
time.
"""
_MOST_ROUNDS = 10
_TICK = timedelta(microseconds=1)
_AT_ONCE = 200  # conversations or contents that one statement names
_LONGEST_MESSAGE = 8_000
_LONGEST_HISTORY = 24_000


@dataclass(frozen=True)
class JournalEntry:
    """An event to be stored in the journal."""

    conversation_id: str
    turn_id: str
    at: datetime
    event: Event
    scope: str | None = None
    """The part of the turn in which the event has the number `n`; None without one."""
    n: int | None = None
    """An event of this number is stored once, however often it is appended; None: every time."""
    lease: int | None = None
    """The turn's, when the process that appends took it; None: it needs none."""


class NewConversation(NamedTuple):
    """A conversation that begins with its first turn."""

    owner: str
    title: str
    kind: ConversationKind = "chat"
    model: str = ""


class Journal:
    """Conversations, turns and events in one database."""

    def __init__(
        self,
        engine: sa.Engine,
        server: str | None = None,
        processes: Processes | None = None,
        teaches: Callable[[], bool] = lambda: False,
        keep_days: Callable[[], int] = lambda: 0,
    ) -> None:
        """`server` runs the turns that begin here: this process, unless another is named.
        `teaches`: whether they are to be examined for lessons when they have ended. `keep_days`:
        for how long a conversation without a new turn is kept; 0: until it is deleted.
        """
        self._engine = engine
        self._server = server or this_process()
        self._processes = processes or Processes(engine)
        self._teaches = teaches
        self.keep_days = keep_days

    def create_conversation(self, owner: str, title: str, kind: ConversationKind = "chat") -> str:
        """Begin a conversation and return its id."""
        conversation_id = uuid4().hex
        with writing(self._engine, exclusive=False) as connection:
            new = NewConversation(owner, title, kind)
            create_conversation(connection, conversation_id, new, datetime.now(UTC))
        return conversation_id

    def named_conversation(self, owner: str, name: str) -> str:
        """The id of the conversation that `owner` calls by this name, which is begun if there is
        none; one whose id this is comes first. A deleted one is restored.
        """
        key = sha256(f"{owner}\0{storable(name)}".encode()).hexdigest()[:32]
        ids = _CONVERSATIONS.c.id.in_([storable(name), key]) & (_CONVERSATIONS.c.owner == owner)
        with writing(self._engine) as connection:
            existing_ids = connection.scalars(sa.select(_CONVERSATIONS.c.id).where(ids)).all()
            if existing_ids:
                connection.execute(_CONVERSATIONS.update().where(ids).values(deleted_at=None))
                return name if name in existing_ids else key
            new = NewConversation(owner, storable(name)[:80])
            create_conversation(connection, key, new, datetime.now(UTC))
        return key

    def turn_after(self, owner: str, requests: Sequence[str]) -> Asked | None:
        """The owner's newest turn with the last of these requests that follows the others, in this
        order, from the beginning of its conversation; None if there is none.
        """
        texts = [storable(request) for request in requests]
        of_conversation = _CONVERSATIONS.c.id == _TURNS.c.conversation_id
        query = (
            sa.select(_TURNS.c.conversation_id, _TURNS.c.id)
            .join(_CONVERSATIONS, of_conversation)
            .where(
                _CONVERSATIONS.c.owner == owner,
                _CONVERSATIONS.c.kind == "chat",
                _CONVERSATIONS.c.deleted_at.is_(None),
                _TURNS.c.request == texts[-1],
            )
            .order_by(_TURNS.c.started_at.desc())
        )
        with reading(self._engine) as connection:
            for conversation_id, turn_id in connection.execute(query).all():
                steps = path(conversation_id, turn_id)
                on_path = _TURNS.join(steps, steps.c.id == _TURNS.c.id)
                had = sa.select(_TURNS.c.request).select_from(on_path)
                if connection.scalars(had.order_by(steps.c.back.desc())).all() == texts:
                    return Asked(conversation_id=conversation_id, turn_id=turn_id)
        return None

    def conversations(
        self,
        owner: str,
        text: str = "",
        kind: ConversationKind = "chat",
        limit: int | None = None,
    ) -> tuple[ConversationSummary, ...]:
        """An owner's conversations of a kind, that with the newest turn first, at most `limit`;
        with a text those that have its words in their title, requests or answers, at most 50.
        """
        with reading(self._engine) as connection:
            rows = find_conversations(connection, owner, kind, text, limit)
            conversations = tuple(map(_summary, rows))
            if not text.strip():
                return conversations
            lines = snippets(connection, [summary.id for summary in conversations], text)
            return tuple(
                summary.model_copy(update={"snippet": lines.get(summary.id, "")})
                for summary in conversations
            )

    def conversation(self, owner: str, conversation_id: str) -> ConversationSummary:
        """One conversation of an owner.

        Raises:
            ResourceNotFound: the owner has no such conversation; the message is the same whether it
                exists or not.
        """
        query = summaries(
            _CONVERSATIONS.c.id == storable(conversation_id), _CONVERSATIONS.c.owner == owner
        )
        for row in fetch(self._engine, query):
            return _summary(row)
        raise _unknown(conversation_id)

    def change_conversation(
        self, owner: str, conversation_id: str, change: ConversationChange
    ) -> None:
        """Rename, pin, delete or restore a conversation, or have it seen.

        Raises:
            ResourceNotFound: the owner has no such conversation, or deleted it.
        """
        with writing(self._engine) as connection:
            if not change_conversation(connection, owner, conversation_id, change):
                raise _unknown(conversation_id)
            announce(connection, "conversations")

    def remove_deleted(self) -> None:
        """Remove the conversations that were deleted too long ago to be restored, the temporary
        ones that were deleted or left for a day, and those that are kept no longer.
        """
        days = self.keep_days()
        with reading(self._engine) as connection:
            limit = timedelta(days=days)
            expired = idle_conversations(connection, "chat", limit) if days else []
            temporary = idle_conversations(connection, "temporary", KEPT_AFTER_DELETION)
            conversation_ids = [*deleted_long_ago(connection), *temporary, *expired]
        for batch in _batches(conversation_ids, _AT_ONCE):
            self.remove_conversations(batch)

    def turn(self, owner: str, turn_id: str) -> tuple[Record, ...]:
        """The events of one turn, in order. Raises: ResourceNotFound: the owner has no such
        turn.
        """
        of_owner = (_CONVERSATIONS.c.owner == owner) & _CONVERSATIONS.c.deleted_at.is_(None)
        of_turn = (_EVENTS.c.turn_id == storable(turn_id)) & of_owner
        query = (
            sa.select(_EVENTS)
            .join(_CONVERSATIONS, _CONVERSATIONS.c.id == _EVENTS.c.conversation_id)
            .where(of_turn)
        )
        rows = fetch(self._engine, query.order_by(_EVENTS.c.seq))
        if not rows:
            raise ResourceNotFound(
                f"unknown turn {turn_id[:40]!r}",
                "name one of your own, as `ask --json` prints it",
            )
        return tuple(record for row in rows if (record := read_record(row)))

    def newest_turn(self, owner: str) -> str:
        """The id of the owner's newest turn. Raises: ResourceNotFound: there is none."""
        of_owner = (_CONVERSATIONS.c.owner == owner) & _CONVERSATIONS.c.deleted_at.is_(None)
        query = sa.select(_TURNS.c.id).join(_CONVERSATIONS).where(of_owner)
        newest = fetch_value(self._engine, query.order_by(_TURNS.c.started_at.desc()))
        if newest is None:
            raise ResourceNotFound("there is no turn yet", "ask for something first")
        return str(newest)

    def owner_of(self, conversation_id: str) -> str:
        """The owner of a conversation; "" if there is none."""
        query = sa.select(_CONVERSATIONS.c.owner).where(_CONVERSATIONS.c.id == conversation_id)
        return fetch_value(self._engine, query) or ""

    def conversation_of(self, turn_id: str) -> str | None:
        """The conversation of a turn; None if there is no such turn."""
        query = sa.select(_TURNS.c.conversation_id).where(_TURNS.c.id == turn_id)
        return fetch_value(self._engine, query)

    def begin_turn(
        self,
        conversation_id: str,
        request: str,
        turn_id: str = "",
        started: TurnStarted | None = None,
        given: str | None = None,
        *,
        new: NewConversation | None = None,
        waits: bool = False,
        after: str | None = None,
    ) -> str:
        """Record a running turn with its first event, and return its id. `append` ends it with the
        event that ends it. `given` is what another process needs to run it. `new` is its
        conversation, if that begins with the turn. `waits`: it is in the queue. `after`: see
        `TurnStarted.after`.

        It is noted as later than the conversation's other turns, also where the clock was set back.

        Raises: ResourceNotFound: the conversation has no turn `after`.
        """
        turn_id, now = turn_id or uuid4().hex, datetime.now(UTC)
        row: dict[str, Any] = {
            "id": turn_id,
            "conversation_id": conversation_id,
            "request": storable(request),
            "state": "running",
            "given": given,
        }
        if waits:
            admitted = sa.select(sa.func.coalesce(sa.func.max(_TURNS.c.admitted), 0))
            row |= {"lease": 0, "admitted": None, "queued": admitted.scalar_subquery()}
        first = [
            JournalEntry(conversation_id, turn_id, now, event, scope="", n=1)
            for event in (started,)
            if event
        ]
        shared = any(brings_contents(entry.event) for entry in first)
        with writing(self._engine, exclusive=shared) as connection:
            if new:
                create_conversation(connection, conversation_id, new, now)
                kind, started_at = str(new.kind), now
            else:
                active = connection.execute(_ACTIVE, {"conversation": conversation_id}).first()
                kind, newest = active or ("", now)  # a turn of no conversation can't be inserted
                started_at = max(now, utc(newest) + _TICK)
                this = _CONVERSATIONS.update().where(_CONVERSATIONS.c.id == conversation_id)
                connection.execute(this.values(active_at=started_at))
            if after or not new:
                row["parent_id"] = parent_of_new(connection, conversation_id, after)
            values = {**row, "started_at": started_at, "server": self._server}
            connection.execute(_TURNS.insert().values(**values))
            if kind == "temporary" or (started and started.schedule):
                mark_examined(connection, turn_id)
            elif self._teaches():
                mark_examined(connection, turn_id, unusable=-1)
            if first:
                _append(connection, first)
        return turn_id

    def said(self, owner: str, texts: Sequence[str]) -> frozenset[str]:
        """Which of the texts are requests of `owner`, as they were made or standing alone."""
        return frozenset(row[0] for row in self._first_times(owner, texts) if row.is_own)

    def said_by_others(self, owner: str, texts: Sequence[str]) -> dict[str, datetime]:
        """The texts that are requests of another owner, and not of `owner`, and when one first made
        each.
        """
        rows = self._first_times(owner, texts)
        own_texts = {row[0] for row in rows if row.is_own}
        return {row[0]: utc(row.at) for row in rows if row[0] not in own_texts}

    def _first_times(self, owner: str, texts: Sequence[str]) -> Sequence[sa.Row[Any]]:
        """When `owner` and another one first made each of the texts, the newest first. The owner is
        not a condition, as SQLite would look at all their conversations.
        """
        is_own = (_CONVERSATIONS.c.owner == owner).label("is_own")
        query = sa.union_all(
            *(
                sa.select(form, is_own, sa.func.min(_TURNS.c.started_at).label("at"))
                .join(_CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id)
                .where(form.in_(texts))
                .group_by(form, "is_own")
                for form in (_TURNS.c.request, _TURNS.c.standalone)
            )
        ).order_by(sa.desc("at"))
        return fetch(self._engine, query)

    habits = reads(read_habits)
    last_uses = reads(read_last_uses)
    tool_uses = reads(read_tool_uses)

    def remove_conversations(self, conversation_ids: Sequence[str]) -> None:
        """Delete conversations with their turns, events, files, results and threads of agents, in
        one transaction; contents that another conversation also has stay.
        """
        ids = [storable(conversation_id) for conversation_id in conversation_ids]
        holders, contents = (schema.files, schema.results), schema.contents
        with writing(self._engine) as connection:
            hashes = connection.scalars(
                sa.union(
                    *(sa.select(t.c.sha256).where(t.c.conversation_id.in_(ids)) for t in holders)
                )
            ).all()
            for table in holders:
                connection.execute(table.delete().where(table.c.conversation_id.in_(ids)))
            unreferenced = [~sa.exists().where(t.c.sha256 == contents.c.sha256) for t in holders]
            for some in _batches(hashes, _AT_ONCE):
                connection.execute(
                    contents.delete().where(contents.c.sha256.in_(some), *unreferenced)
                )
            for table in (_EVENTS, _TURNS, schema.agents):
                connection.execute(table.delete().where(table.c.conversation_id.in_(ids)))
            connection.execute(_CONVERSATIONS.delete().where(_CONVERSATIONS.c.id.in_(ids)))

    def append(self, entries: Sequence[JournalEntry]) -> list[Record]:
        """Number and store events in one transaction, and end the turns that these events end.

        Returns one record for each entry, in the same order: of an event that is stored already,
        its own; the number is 0 if the conversation does not exist. Entries of a turn that another
        process has taken over are left out.
        """
        shared = any(brings_contents(entry.event) for entry in entries)  # with other conversations
        with writing(self._engine, exclusive=shared) as connection:
            return _append(connection, entries)

    def history(
        self, conversation_id: str, after_seq: int = 0, *, before: int = LAST_SEQ, turns: int = 0
    ) -> tuple[Record, ...]:
        """The events of a conversation after a number and before another, in order; with `turns`
        those of so many of the newest turns, or more: all of a turn, or nothing, and the first says
        which turn it follows.
        """
        seq = _EVENTS.c.seq
        newer_events = (_EVENTS.c.conversation_id == storable(conversation_id)) & (seq > after_seq)
        newer_events &= seq < before
        with reading(self._engine) as connection:
            if turns:
                newer_events &= seq >= _first_of(connection, newer_events, turns)
            rows = connection.execute(
                sa.select(_EVENTS).where(newer_events).order_by(_EVENTS.c.seq)
            ).all()
        records = tuple(record for row in rows if (record := read_record(row)))
        if turns and records and isinstance(started := records[0].event, TurnStarted):
            follows = started.model_copy(update={"after": self.parent(records[0].turn_id)})
            records = (records[0].model_copy(update={"event": follows}), *records[1:])
        return records

    def last_seq(self, conversation_id: str) -> int:
        """The number of the newest event of a conversation; 0 if there is none."""
        of_conversation = _CONVERSATIONS.c.id == storable(conversation_id)
        query = sa.select(_CONVERSATIONS.c.last_seq).where(of_conversation)
        return fetch_value(self._engine, query) or 0

    def records_after(self, after: Mapping[str, int]) -> list[Record]:
        """The events of several conversations, each after its number, in order."""
        records: list[Record] = []
        for some in _batches(after.items(), _AT_ONCE):
            with reading(self._engine, once=True) as connection:
                rows = connection.execute(_events_after(len(some)), _numbered(some, "seq"))
                records += filter(None, map(read_record, rows))
        return records

    def request_stop(self, owner: str, turn_id: str) -> bool:
        """Have the process that runs a turn of `owner` stop it; False if it does not run."""
        running = (_TURNS.c.id == storable(turn_id)) & (_TURNS.c.state == "running")
        query = sa.select(_TURNS.c.id).join(
            _CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id
        )
        with writing(self._engine, exclusive=False) as connection:
            running_id = connection.scalar(query.where(running, _CONVERSATIONS.c.owner == owner))
            if running_id:
                announce(connection, "stop", turn_id)
        return running_id is not None and self._engine.dialect.name == "postgresql"

    def running(self, conversation_id: str) -> list[str]:
        """The ids of the turns that run in a conversation, in whatever process."""
        of_conversation = _TURNS.c.conversation_id == storable(conversation_id)
        return self._running_ids(of_conversation)

    def running_of(self, owner: str) -> list[str]:
        """The ids of an owner's turns that run, in whatever process."""
        conversations = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.owner == owner)
        of_owner = _TURNS.c.conversation_id.in_(conversations)
        return self._running_ids(of_owner)

    def fork(self, owner: str, conversation_id: str, turn_id: str) -> str:
        """Begin a conversation with copies of the turns up to one, and return its id.

        Raises: ResourceNotFound: `owner` has no such conversation, or it no such turn;
        RequestError: the turn runs, or it belongs to a project.
        """
        if self.conversation(owner, conversation_id).kind == "project":
            raise RequestError(
                "a project can't be continued in a new conversation",
                "begin a project of its own",
            )
        with writing(self._engine) as connection:
            new_id = fork(connection, conversation_id, turn_id)
            announce(connection, "conversations")
        return new_id

    def parent(self, turn_id: str) -> str:
        """The id of the turn that a turn follows; "" if it begins its conversation."""
        query = sa.select(_TURNS.c.parent_id).where(_TURNS.c.id == storable(turn_id))
        return fetch_value(self._engine, query) or ""

    def newest_from(self, turn_id: str) -> str | None:
        """The id of the newest turn of those that follow a turn, or its own."""
        with reading(self._engine) as connection:
            return newest_from(connection, turn_id)

    def messages(
        self, conversation_id: str, limit: int = 20, after: str | None = None
    ) -> tuple[ChatMessage, ...]:
        """The requests and answers of the newest finished turns up to `after`, by default to the
        newest, for a model: oldest first, at most `limit` messages.

        Long messages are cut to 8,000 characters, and all together stay below 24,000.
        """
        steps = path(conversation_id, after)
        query = (
            sa.select(_TURNS.c.id, _TURNS.c.request, _TURNS.c.answer)
            .join(steps, steps.c.id == _TURNS.c.id)
            .where(_TURNS.c.state == "finished")
            .order_by(steps.c.back)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query.limit(limit // 2)).all()
            answers = _answers(connection, [row.id for row in rows])
            corrected = _corrected(connection, [row.id for row in rows])
        turns = [
            (
                _cut(answers.get(r.id, "") or r.request),
                _cut(f"({WRONG_ANSWER})\n\n" * (r.id in corrected) + (r.answer or "")),
            )
            for r in rows
        ]
        total = 0

        def fits(turn: tuple[str, str]) -> bool:
            nonlocal total
            total += len(turn[0]) + len(turn[1])
            return total <= _LONGEST_HISTORY

        recent_turns = reversed(list(takewhile(fits, turns)))
        return tuple(
            m
            for request, answer in recent_turns
            for m in (_message("user", request), _message("assistant", answer))
        )

    def last_request(self, conversation_id: str, after: str | None = None) -> str:
        """The request of the turn `after`, by default of the newest; "" if there is none."""
        steps = path(conversation_id, after)
        query = sa.select(_TURNS.c.request).join(steps, steps.c.id == _TURNS.c.id)
        return fetch_value(self._engine, query.order_by(steps.c.back)) or ""

    def rounds(self, conversation_id: str, after: str | None = None) -> tuple[QuestionsAsked, ...]:
        """The questions that consecutive turns up to `after`, by default to the newest, asked the
        person, newest first; empty if that one asked none.
        """
        steps = path(conversation_id, after)
        query = sa.select(steps.c.id).order_by(steps.c.back).limit(_MOST_ROUNDS)
        with reading(self._engine) as connection:
            turns = connection.scalars(query).all()
            of_type = _EVENTS.c.turn_id.in_(turns) & (_EVENTS.c.type == "questions_asked")
            records = {
                row.turn_id: read_record(row)
                for row in connection.execute(sa.select(_EVENTS).where(of_type))
            }
        newest_first = takewhile(lambda record: record is not None, map(records.get, turns))
        return tuple(
            record.event
            for record in newest_first
            if record and isinstance(record.event, QuestionsAsked)
        )

    @property
    def _of_other_servers(self) -> sa.ColumnElement[bool]:
        """The turns that this process does not run."""
        return (_TURNS.c.server != self._server) | _TURNS.c.server.is_(None)

    def any_lost(self) -> bool:
        """Whether a turn is left by its process."""
        running = fetch(self._engine, _running().where(self._of_other_servers))
        return any(map(self._abandoned, running))

    def holds(self, turn_id: str, lease: int) -> bool:
        """Whether no other process has taken the turn over."""
        query = sa.select(_TURNS.c.lease).where(_TURNS.c.id == turn_id)
        return fetch_value(self._engine, query) in (lease, None)

    def held(self) -> frozenset[str]:
        """Ids of the turns that this process runs."""
        return frozenset(self._running_ids(_TURNS.c.server == self._server))

    def release_lost(self) -> None:
        """Put the turns that killed servers left running, and that can be resumed, back into the
        queue.
        """
        dead_servers = set[str]()
        with writing(self._engine) as connection:
            for turn in connection.execute(_running().with_for_update(of=_TURNS)).all():
                if not _goes_on(turn) or not self._abandoned(turn):
                    continue
                dead_servers.add(turn.server)
                free = {"lease": turn.lease + 1, "server": self._server, "admitted": None}
                connection.execute(_TURNS.update().where(_TURNS.c.id == turn.id).values(**free))
            self._processes.give_up(connection, dead_servers - {None})
            if dead_servers:
                announce(connection, "queue")

    def take_over_unexamined(self) -> list[str]:
        """Ids of the ended turns that killed servers have not examined for lessons; from now on
        they are this one's.
        """
        examinations = _TURNS.join(
            schema.examined_turns, schema.examined_turns.c.turn_id == _TURNS.c.id
        )
        is_unexamined = (_TURNS.c.state != "running") & (schema.examined_turns.c.unusable == -1)
        whose = examinations.join(_CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id)
        query = sa.select(_TURNS, _CONVERSATIONS.c.kind).select_from(whose)
        query = query.where(is_unexamined, self._of_other_servers)
        with writing(self._engine) as connection:
            query = query.order_by(_TURNS.c.started_at).with_for_update(of=_TURNS)
            rows = connection.execute(query)
            turn_ids = [turn.id for turn in rows if self._abandoned(turn)]
            of_turns = _TURNS.c.id.in_(turn_ids)
            connection.execute(_TURNS.update().where(of_turns).values(server=self._server))
        return turn_ids

    def running_turns(self) -> frozenset[str]:
        """Ids of the turns that have not ended."""
        return frozenset(self._running_ids())

    def _running_ids(self, *where: sa.ColumnElement[bool]) -> list[str]:
        query = sa.select(_TURNS.c.id).where(_TURNS.c.state == "running", *where)
        return fetch_column(self._engine, query)

    def numbered(self, turn_id: str) -> tuple[tuple[Event, str | None, int | None], ...]:
        """The events of a turn in their order, with their numbers in their scopes."""
        of_turn = _EVENTS.c.turn_id == storable(turn_id)
        rows = fetch(self._engine, sa.select(_EVENTS).where(of_turn).order_by(_EVENTS.c.seq))
        return tuple(
            (record.event, row.scope, row.n) for row in rows if (record := read_record(row))
        )

    def stop_abandoned_turns(self) -> list[Record]:
        """End the turns that killed servers left running and that can't be resumed; those of
        running servers continue.
        """
        event = TurnStopped(reason=_SERVER_ENDED, by="server")
        with writing(self._engine) as connection:
            turns = [
                turn
                for turn in connection.execute(_running().with_for_update(of=_TURNS)).all()
                if not _goes_on(turn) and self._abandoned(turn)
            ]
            return _append(
                connection,
                [JournalEntry(t.conversation_id, t.id, datetime.now(UTC), event) for t in turns],
            )

    def _abandoned(self, turn: sa.Row[Any]) -> bool:
        is_gone = self._processes.is_gone(turn.server)
        if is_gone and turn.kind == "project" and _goes_on(turn) and turn.server:
            is_gone = is_running(turn.server) is False or None  # its machine has its folder
        return (
            datetime.now(UTC) - utc(turn.started_at) > _LONGEST_TURN if is_gone is None else is_gone
        )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _unknown(conversation_id: str) -> ResourceNotFound:
    return ResourceNotFound(f"unknown conversation {conversation_id[:40]!r}", "begin a new one")


def _summary(row: sa.Row[Any]) -> ConversationSummary:
    """Times in whole seconds: a list has hundreds."""
    times = {
        name: utc(row._mapping[name]).replace(microsecond=0) for name in ("created_at", "active_at")
    }
    return ConversationSummary.model_validate({**row._mapping, **times})


def create_conversation(
    connection: sa.Connection, conversation_id: str, new: NewConversation, now: datetime
) -> None:
    """In a transaction of the caller."""
    row = {**new._asdict(), "title": storable(new.title), "model": storable(new.model)}
    row |= {"id": conversation_id, "created_at": now, "active_at": now}
    connection.execute(_CONVERSATIONS.insert().values(**row))


def _first_of(connection: sa.Connection, events: sa.ColumnElement[bool], turns: int) -> int:
    """The number of the first event of the newest turns among the events."""
    seq, of_turn = _EVENTS.c.seq, _EVENTS.c.turn_id
    spans = sa.select(sa.func.min(seq), sa.func.max(seq)).where(events).group_by(of_turn)
    first = LAST_SEQ
    for number, (begin, end) in enumerate(sorted(map(tuple, connection.execute(spans)))[::-1]):
        if number < turns or end > first:  # turns may overlap
            first = begin
    return first


def _running() -> sa.Select[Any]:
    whose = _TURNS.join(_CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id)
    ours = sa.select(_TURNS, _CONVERSATIONS.c.kind, _CONVERSATIONS.c.owner).select_from(whose)
    return ours.where(_TURNS.c.state == "running").order_by(_TURNS.c.id)


def _goes_on(turn: sa.Row[Any]) -> bool:
    """Whether another process can resume the turn."""
    return turn.given is not None and turn.lease < MOST_LEASES


def _numbered(pairs: Iterable[tuple[str, int]], name: str) -> dict[str, str | int]:
    """Parameters of a statement: `conversation0` and, under `name`, its number, and so on."""
    parameters: dict[str, str | int] = {}
    for n, (conversation_id, number) in enumerate(pairs):
        parameters |= {f"conversation{n}": conversation_id, f"{name}{n}": number}
    return parameters


@cache
def _events_after(count: int) -> sa.Select[Any]:
    """The events of so many conversations, `conversation0` after number `seq0` and so on."""
    after = (
        (_EVENTS.c.conversation_id == sa.bindparam(f"conversation{n}"))
        & (_EVENTS.c.seq > sa.bindparam(f"seq{n}"))
        for n in range(count)
    )
    ordered = sa.select(_EVENTS).order_by(_EVENTS.c.conversation_id, _EVENTS.c.seq)
    return ordered.where(sa.or_(*after))


def _append(connection: sa.Connection, entries: Sequence[JournalEntry]) -> list[Record]:
    entries = _fenced(connection, entries)
    stored = _stored(connection, entries)
    new = [entry for entry in entries if _key(entry) not in stored]
    following = _reserve(connection, Counter(e.conversation_id for e in new))
    records, rows = [], []
    for entry in entries:
        event, text = _dump(entry.event)
        stored_event = stored.get(_key(entry))
        seq, at = stored_event or (following[entry.conversation_id], entry.at)
        record = Record(
            conversation_id=entry.conversation_id,
            seq=seq,
            turn_id=entry.turn_id,
            at=at,
            event=event,
        )
        records.append(record)
        if stored_event is None and seq:
            following[entry.conversation_id] += 1
            row = {"conversation_id": entry.conversation_id, "seq": seq, "turn_id": entry.turn_id}
            row |= {"at": at, "type": event.type, "event": text}
            rows.append({**row, "scope": entry.scope, "n": entry.n})
    if rows:
        connection.execute(_NEW_EVENT, rows)
    new_records = [
        record for entry, record in zip(entries, records, strict=True) if _key(entry) not in stored
    ]
    note_spending(connection, new_records)
    for record in new_records:
        _update_turn(connection, record)
        keep(connection, record)
        if isinstance(record.event, AnswerCorrected):
            _unlearn(connection, record.event.turn_id)
    if rows:
        announce(connection, "journal", *(f"{c}:{seq - 1}" for c, seq in following.items() if seq))
    if any(isinstance(record.event, (TurnStarted, *FINAL)) for record in new_records):
        announce(connection, "conversations")
    return records


def _fenced(connection: sa.Connection, entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The entries without those of turns that another process has taken over."""
    if not (leased_turns := {entry.turn_id for entry in entries if entry.lease is not None}):
        return list(entries)
    # The lock makes a take-over wait for the end of this transaction.
    rows = connection.execute(_LEASES, {"turns": sorted(leased_turns)})
    leases = {row.id: row.lease for row in rows}
    return [e for e in entries if e.lease is None or leases.get(e.turn_id, e.lease) == e.lease]


def _key(entry: JournalEntry) -> tuple[str, str, int] | None:
    """Under which the event is stored once; None: it has no number in its turn."""
    return (entry.turn_id, entry.scope or "", entry.n) if entry.n is not None else None


def _stored(
    connection: sa.Connection, entries: Sequence[JournalEntry]
) -> dict[tuple[str, str, int] | None, tuple[int, datetime]]:
    """The events that are stored already: their numbers in their conversations, and when they
    came.
    """
    keys = {key for entry in entries if (key := _key(entry))}
    values = {"keys": sorted(keys), "turns": sorted({turn_id for turn_id, _, _ in keys})}
    rows = connection.execute(_STORED, values) if keys else ()
    return {(row.turn_id, row.scope, row.n): (row.seq, utc(row.at)) for row in rows}


def _reserve(connection: sa.Connection, counts: Mapping[str, int]) -> dict[str, int]:
    """By conversation, the first of as many new numbers; 0 if there is no such conversation."""
    if not counts:
        return {}
    rows = connection.execute(_reserved(len(counts)), _numbered(counts.items(), "count"))
    last = {row.id: row.last_seq for row in rows}
    return {name: last[name] - count + 1 if name in last else 0 for name, count in counts.items()}


@cache
def _reserved(count: int) -> sa.Executable:
    """Takes `count0` numbers of `conversation0` and so on, and returns the last of each.

    The rows are locked in the order of their ids, so that no two transactions wait for each other.
    """
    columns, table = _CONVERSATIONS.c, _CONVERSATIONS.alias()
    names = [sa.bindparam(f"conversation{n}", type_=sa.String) for n in range(count)]
    locked = sa.select(table.c.id).where(table.c.id.in_(names)).order_by(table.c.id)
    counts = (sa.bindparam(f"count{n}", type_=sa.Integer) for n in range(count))
    more = sa.case(*((columns.id == name, more) for name, more in zip(names, counts, strict=True)))
    return (
        _CONVERSATIONS.update()
        .where(columns.id.in_(locked.with_for_update(key_share=True)))
        .values(last_seq=columns.last_seq + more)
        .returning(columns.id, columns.last_seq)
    )


def _update_turn(connection: sa.Connection, record: Record) -> None:
    match record.event:
        case TurnFinished(answer=answer):
            outcome = {"state": "finished", "answer": storable(answer), "given": None}
        case TurnFailed():
            outcome = {"state": "failed", "given": None}
        case TurnStopped():
            outcome = {"state": "stopped", "given": None}
        case (
            ToolFound(standalone=words, plan_step="", within="")
            | NoToolFound(standalone=words, plan_step="", within="")
        ) if words:
            outcome = {"standalone": storable(words)}
        case _:
            return
    if isinstance(record.event, FINAL):
        forget_effects(connection, record.turn_id)
    running = (_TURNS.c.id == record.turn_id) & (_TURNS.c.state == "running")
    connection.execute(_TURNS.update().where(running).values(**outcome))


def _unlearn(connection: sa.Connection, turn_id: str) -> None:
    """Withdraw what a turn with a wrong answer taught: its lessons that no other turn confirms. It
    teaches none later.
    """
    evidence, lessons = schema.lesson_evidence, schema.lessons
    of_turn = evidence.c.turn_id == turn_id
    taught = connection.scalars(sa.select(evidence.c.lesson_id).where(of_turn)).all()
    connection.execute(evidence.delete().where(of_turn))
    unconfirmed = ~sa.exists().where(evidence.c.lesson_id == lessons.c.id)
    connection.execute(lessons.delete().where(lessons.c.id.in_(taught), unconfirmed))
    if connection.scalar(sa.select(_TURNS.c.id).where(_TURNS.c.id == turn_id)):
        mark_examined(connection, turn_id)
    if taught:
        announce(connection, "lessons")


def mark_examined(
    connection: sa.Connection, turn_id: str, digest: str = "", unusable: int = 0
) -> None:
    """Record that a turn was examined for lessons, see `schema.examined_turns`."""
    examined = schema.examined_turns
    connection.execute(examined.delete().where(examined.c.turn_id == turn_id))
    row = {"turn_id": turn_id, "digest": digest, "unusable": unusable}
    connection.execute(examined.insert().values(**row, at=datetime.now(UTC)))


def _dump(event: Event) -> tuple[Event, str]:
    """The event and its JSON; lone surrogates, which UTF-8 can't encode, are replaced in both."""
    try:
        return event, EVENT.dump_json(event).decode()
    except PydanticSerializationError:
        clean = EVENT.validate_python(storable_data(event.model_dump()))
        if isinstance(event, TurnStarted | FilesMade):
            clean = clean.model_copy(update={"contents": event.contents})  # excluded from dumps
        return clean, EVENT.dump_json(clean).decode()


def read_record(row: sa.Row[Any]) -> Record | None:
    """The record of a row of the events table; None if another version wrote it and this one can't
    read it.
    """
    try:
        event = EVENT.validate_json(row.event)
    except (
        ValidationError
    ):  # written by another version; the rest of the conversation is still worth reading
        log.exception("event %d of conversation %s can't be read", row.seq, row.conversation_id)
        return None
    return Record(
        conversation_id=row.conversation_id,
        seq=row.seq,
        turn_id=row.turn_id,
        at=utc(row.at),
        event=event,
    )


def _corrected(connection: sa.Connection, turns: Sequence[str]) -> set[str]:
    """The turns whose answers one of these turns corrects."""
    correcting = _EVENTS.c.turn_id.in_(turns) & (_EVENTS.c.type == "answer_corrected")
    records = map(read_record, connection.execute(sa.select(_EVENTS).where(correcting)))
    return corrected_turns(record.event for record in records if record)


def _answers(connection: sa.Connection, turns: Sequence[str]) -> dict[str, str]:
    """By turn, the request with the answers that came with it, where some did."""
    began = _EVENTS.c.turn_id.in_(turns) & (_EVENTS.c.type == "turn_started")
    records = map(read_record, connection.execute(sa.select(_EVENTS).where(began)))
    return {
        record.turn_id: "\n".join(
            dict.fromkeys((record.event.request, answers_text(record.event.answers)))
        )
        for record in records
        if record and isinstance(record.event, TurnStarted) and record.event.answers
    }


def _message(role: str, content: str) -> ChatMessage:
    return ChatMessage.model_validate({"role": role, "content": content})


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
