"""The journal: conversations with their owners, their turns, and every event in order.

All methods block: call them in a thread. `selfeng.store.recorder` writes events from an event loop.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import takewhile
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import (
    EVENT,
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
)
from selfeng.core.process import is_running, this_process
from selfeng.core.prompt import ChatMessage
from selfeng.core.question import said
from selfeng.store import schema
from selfeng.store.conversation_files import keep
from selfeng.store.conversation_list import (
    ConversationChange,
    ConversationKind,
    ConversationSummary,
    change_conversation,
    deleted_long_ago,
    find_conversations,
    summaries,
)
from selfeng.store.database import reading, writing
from selfeng.store.habits import Habits, read_habits
from selfeng.store.text import storable, storable_data

log = logging.getLogger(__name__)

_CONVERSATIONS, _TURNS, _EVENTS = schema.conversations, schema.turns, schema.events
_SERVER_ENDED = "The server ended while this was running."
_LONGEST_TURN = timedelta(days=1)
"""A turn of a server on another machine, which can't be checked, counts as abandoned after this
time.
"""
_MOST_ROUNDS = 10
_LONGEST_MESSAGE = 8_000
_LONGEST_HISTORY = 24_000


@dataclass(frozen=True)
class JournalEntry:
    """An event to be stored in the journal."""

    conversation_id: str
    turn_id: str
    at: datetime
    event: Event


class Journal:
    """Conversations, turns and events in one database."""

    def __init__(self, engine: sa.Engine, server: str | None = None) -> None:
        """`server` runs the turns that begin here: this process, unless another is named."""
        self._engine = engine
        self._server = server or this_process()

    def create_conversation(self, owner: str, title: str, kind: ConversationKind = "chat") -> str:
        """Begin a conversation and return its id."""
        conversation_id = uuid4().hex
        row = {
            "id": conversation_id,
            "owner": owner,
            "title": storable(title),
            "created_at": datetime.now(UTC),
            "kind": kind,
        }
        with writing(self._engine) as connection:
            connection.execute(_CONVERSATIONS.insert().values(**row))
        return conversation_id

    def named_conversation(self, owner: str, name: str) -> str:
        """The id of the conversation that `owner` calls by this name, which is begun if there is
        none; one whose id this is comes first. A deleted one is restored.
        """
        key = sha256(f"{owner}\0{storable(name)}".encode()).hexdigest()[:32]
        ids = _CONVERSATIONS.c.id.in_([storable(name), key]) & (_CONVERSATIONS.c.owner == owner)
        with writing(self._engine) as connection:
            known = connection.scalars(sa.select(_CONVERSATIONS.c.id).where(ids)).all()
            if known:
                connection.execute(_CONVERSATIONS.update().where(ids).values(deleted_at=None))
                return name if name in known else key
            row = {"id": key, "owner": owner, "title": storable(name)[:80]}
            connection.execute(_CONVERSATIONS.insert().values(**row, created_at=datetime.now(UTC)))
        return key

    def conversations(
        self, owner: str, kind: ConversationKind = "chat", text: str = ""
    ) -> tuple[ConversationSummary, ...]:
        """An owner's conversations of a kind, that with the newest turn first; with a text those
        that have its words, at most 50.
        """
        with reading(self._engine) as connection:
            return tuple(map(_summary, find_conversations(connection, owner, kind, text)))

    def conversation(self, owner: str, conversation_id: str) -> ConversationSummary:
        """One conversation of an owner.

        Raises:
            ResourceNotFound: the owner has no such conversation; the message is the same whether it
                exists or not.
        """
        query = summaries(
            _CONVERSATIONS.c.id == storable(conversation_id), _CONVERSATIONS.c.owner == owner
        )
        with reading(self._engine) as connection:
            row = connection.execute(query).first()
        if row is None:
            raise _unknown(conversation_id)
        return _summary(row)

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

    def remove_deleted(self) -> None:
        """Remove the conversations that were deleted too long ago to be restored."""
        with reading(self._engine) as connection:
            gone = deleted_long_ago(connection)
        for conversation_id in gone:
            self.remove_conversation(conversation_id)

    def turn(self, owner: str, turn_id: str) -> tuple[Record, ...]:
        """The events of one turn, in order. Raises: ResourceNotFound: the owner has no such
        turn.
        """
        own = (_CONVERSATIONS.c.owner == owner) & _CONVERSATIONS.c.deleted_at.is_(None)
        mine = (_EVENTS.c.turn_id == storable(turn_id)) & own
        query = (
            sa.select(_EVENTS)
            .join(_CONVERSATIONS, _CONVERSATIONS.c.id == _EVENTS.c.conversation_id)
            .where(mine)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(_EVENTS.c.seq)).all()
        if not rows:
            raise ResourceNotFound(
                f"unknown turn {turn_id[:40]!r}",
                "name one of your own, as `ask --json` prints it",
            )
        return tuple(record for row in rows if (record := read_record(row)))

    def begin_turn(self, conversation_id: str, request: str) -> str:
        """Record a running turn and return its id. `append` ends it with the event that ends it."""
        turn_id = uuid4().hex
        row = {
            "id": turn_id,
            "conversation_id": conversation_id,
            "request": storable(request),
            "state": "running",
        }
        with writing(self._engine) as connection:
            connection.execute(
                _TURNS.insert().values(**row, started_at=datetime.now(UTC), server=self._server)
            )
        return turn_id

    def said(self, owner: str, texts: Iterable[str]) -> frozenset[str]:
        """Which of the texts are requests of `owner`, as they were made or standing alone."""
        return self._asked(texts, _CONVERSATIONS.c.owner == owner)

    def said_by_others(self, owner: str, texts: Iterable[str], until: datetime) -> frozenset[str]:
        """Which of the texts are requests of another owner, made before `until`, and not of
        `owner`.
        """
        texts = list(texts)
        return self._asked(
            texts, _CONVERSATIONS.c.owner != owner, _TURNS.c.started_at < until
        ) - self.said(owner, texts)

    def _asked(self, texts: Iterable[str], *where: sa.ColumnElement[bool]) -> frozenset[str]:
        asked, mine = list(texts), _CONVERSATIONS.c.id == _TURNS.c.conversation_id
        found = sa.union(
            *(
                sa.select(form).join(_CONVERSATIONS, mine).where(form.in_(asked), *where)
                for form in (_TURNS.c.request, _TURNS.c.standalone)
            )
        )
        with reading(self._engine) as connection:
            return frozenset(connection.execute(found).scalars())

    def habits(self, owner: str, tool: str) -> Habits:
        """What `owner` often asks after a tool, and uses together with it."""
        with reading(self._engine) as connection:
            return read_habits(connection, owner, tool)

    def remove_conversation(self, conversation_id: str) -> None:
        """Delete a conversation with its turns, events, files, results and threads of agents;
        contents that another conversation also has stay.
        """
        mine = storable(conversation_id)
        holders, contents = (schema.files, schema.results), schema.contents
        with writing(self._engine) as connection:
            hashes = (sa.select(t.c.sha256).where(t.c.conversation_id == mine) for t in holders)
            gone = connection.scalars(sa.union(*hashes)).all()
            for table in holders:
                connection.execute(table.delete().where(table.c.conversation_id == mine))
            kept = (contents.c.sha256.not_in(sa.select(table.c.sha256)) for table in holders)
            connection.execute(contents.delete().where(contents.c.sha256.in_(gone), *kept))
            for table in (_EVENTS, _TURNS, schema.agents):
                connection.execute(table.delete().where(table.c.conversation_id == mine))
            connection.execute(_CONVERSATIONS.delete().where(_CONVERSATIONS.c.id == mine))

    def append(self, entries: Sequence[JournalEntry]) -> list[Record]:
        """Number and store events in one transaction, and end the turns that these events end.

        Returns one record for each entry, in the same order; the number is 0 if the conversation
        does not exist.
        """
        with writing(self._engine) as connection:
            return _append(connection, entries)

    def history(self, conversation_id: str, after_seq: int = 0) -> tuple[Record, ...]:
        """The events of a conversation after a number, in order."""
        mine = (_EVENTS.c.conversation_id == storable(conversation_id)) & (
            _EVENTS.c.seq > after_seq
        )
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(_EVENTS).where(mine).order_by(_EVENTS.c.seq)).all()
        return tuple(record for row in rows if (record := read_record(row)))

    def messages(self, conversation_id: str, limit: int = 20) -> tuple[ChatMessage, ...]:
        """The requests and answers of the newest finished turns, for a model: oldest first, at most
        `limit` messages.

        Long messages are cut to 8,000 characters, and all together stay below 24,000.
        """
        finished = (_TURNS.c.conversation_id == conversation_id) & (_TURNS.c.state == "finished")
        query = (
            sa.select(_TURNS.c.id, _TURNS.c.request, _TURNS.c.answer)
            .where(finished)
            .order_by(_TURNS.c.started_at.desc(), _TURNS.c.id)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query.limit(limit // 2)).all()
            answers = _answers(connection, [row.id for row in rows])
        turns = [(_cut(answers.get(r.id, "") or r.request), _cut(r.answer or "")) for r in rows]
        total = 0

        def fits(turn: tuple[str, str]) -> bool:
            nonlocal total
            total += len(turn[0]) + len(turn[1])
            return total <= _LONGEST_HISTORY

        kept = reversed(list(takewhile(fits, turns)))
        return tuple(
            m
            for request, answer in kept
            for m in (_message("user", request), _message("assistant", answer))
        )

    def last_request(self, conversation_id: str) -> str:
        """The request of the newest turn; "" if there is none."""
        query = (
            sa.select(_TURNS.c.request)
            .where(_TURNS.c.conversation_id == storable(conversation_id))
            .order_by(_TURNS.c.started_at.desc(), _TURNS.c.id)
        )
        with reading(self._engine) as connection:
            return connection.scalar(query.limit(1)) or ""

    def rounds(self, conversation_id: str) -> tuple[QuestionsAsked, ...]:
        """The questions that the latest consecutive turns asked the person, newest first; empty if
        the newest turn asked none.
        """
        mine = _TURNS.c.conversation_id == storable(conversation_id)
        newest = (
            sa.select(_TURNS.c.id)
            .where(mine)
            .order_by(_TURNS.c.started_at.desc(), _TURNS.c.id)
            .limit(_MOST_ROUNDS)
        )
        with reading(self._engine) as connection:
            turns = connection.scalars(newest).all()
            of_type = _EVENTS.c.turn_id.in_(turns) & (_EVENTS.c.type == "questions_asked")
            asked = {
                row.turn_id: read_record(row)
                for row in connection.execute(sa.select(_EVENTS).where(of_type))
            }
        newest_first = takewhile(lambda record: record is not None, map(asked.get, turns))
        return tuple(
            record.event
            for record in newest_first
            if record and isinstance(record.event, QuestionsAsked)
        )

    def stop_abandoned_turns(self) -> list[Record]:
        """End the turns that killed servers left running; those of running servers continue."""
        running = (
            sa.select(_TURNS)
            .where(_TURNS.c.state == "running")
            .order_by(_TURNS.c.started_at)
            .with_for_update()
        )
        event = TurnStopped(reason=_SERVER_ENDED)
        with writing(self._engine) as connection:
            left = [turn for turn in connection.execute(running).all() if _abandoned(turn)]
            return _append(
                connection,
                [JournalEntry(t.conversation_id, t.id, datetime.now(UTC), event) for t in left],
            )


def _unknown(conversation_id: str) -> ResourceNotFound:
    return ResourceNotFound(f"unknown conversation {conversation_id[:40]!r}", "begin a new one")


def _summary(row: sa.Row[Any]) -> ConversationSummary:
    moments = {name: _utc(row._mapping[name]) for name in ("created_at", "active_at")}
    return ConversationSummary.model_validate({**row._mapping, **moments})


def _abandoned(turn: sa.Row[Any]) -> bool:
    known = is_running(turn.server) if turn.server else False
    return datetime.now(UTC) - _utc(turn.started_at) > _LONGEST_TURN if known is None else not known


def _append(connection: sa.Connection, entries: Sequence[JournalEntry]) -> list[Record]:
    counts = Counter(e.conversation_id for e in entries)
    following = {c: _reserve(connection, c, counts[c]) for c in sorted(counts)}
    records, rows = [], []
    for entry, (event, text) in [(e, _dump(e.event)) for e in entries]:
        seq = following[entry.conversation_id]
        records.append(
            Record(
                conversation_id=entry.conversation_id,
                seq=seq,
                turn_id=entry.turn_id,
                at=entry.at,
                event=event,
            )
        )
        if seq:
            following[entry.conversation_id] += 1
            key = {"conversation_id": entry.conversation_id, "seq": seq}
            rows.append(
                {**key, "turn_id": entry.turn_id, "at": entry.at, "type": event.type, "event": text}
            )
    if rows:
        connection.execute(_EVENTS.insert(), rows)
    for record in records:
        _update_turn(connection, record)
        keep(connection, record)
    return records


def _reserve(connection: sa.Connection, conversation_id: str, count: int) -> int:
    """The first of `count` new numbers; 0 if there is no such conversation."""
    last = connection.scalar(
        _CONVERSATIONS.update()
        .where(_CONVERSATIONS.c.id == conversation_id)
        .values(last_seq=_CONVERSATIONS.c.last_seq + count)
        .returning(_CONVERSATIONS.c.last_seq)
    )
    return 0 if last is None else int(last) - count + 1


def _update_turn(connection: sa.Connection, record: Record) -> None:
    match record.event:
        case TurnFinished(answer=answer):
            outcome = {"state": "finished", "answer": storable(answer)}
        case TurnFailed():
            outcome = {"state": "failed"}
        case TurnStopped():
            outcome = {"state": "stopped"}
        case (
            ToolFound(standalone=words, plan_step="", within="")
            | NoToolFound(standalone=words, plan_step="", within="")
        ) if words:
            outcome = {"standalone": storable(words)}
        case _:
            return
    running = (_TURNS.c.id == record.turn_id) & (_TURNS.c.state == "running")
    connection.execute(_TURNS.update().where(running).values(**outcome))


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
        at=_utc(row.at),
        event=event,
    )


def _answers(connection: sa.Connection, turns: Sequence[str]) -> dict[str, str]:
    """By turn, the request with the answers that came with it, where some did."""
    began = _EVENTS.c.turn_id.in_(turns) & (_EVENTS.c.type == "turn_started")
    records = map(read_record, connection.execute(sa.select(_EVENTS).where(began)))
    return {
        record.turn_id: "\n".join(dict.fromkeys((record.event.request, said(record.event.answers))))
        for record in records
        if record and isinstance(record.event, TurnStarted) and record.event.answers
    }


def _message(role: str, content: str) -> ChatMessage:
    return ChatMessage.model_validate({"role": role, "content": content})


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def _utc(moment: datetime) -> datetime:
    """Add the time zone UTC, which SQLite does not store."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
