"""The journal: whose conversation it is, what was asked in it, and every event in its order.

All methods block: call them in a thread. `selfeng.store.recorder` writes events from an event loop.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from selfeng.core.errors import RequestError
from selfeng.core.events import EVENT, Event, FilesMade, QuestionsAsked, Record, TurnFailed, TurnFinished, TurnStarted, TurnStopped
from selfeng.core.process import is_running, this_process
from selfeng.core.prompt import ChatMessage
from selfeng.store import schema
from selfeng.store.conversation import ConversationSummary
from selfeng.store.database import reading, writing
from selfeng.store.files import keep
from selfeng.store.text import storable, storable_data

logger = logging.getLogger(__name__)

_CONVERSATIONS, _TURNS, _EVENTS = schema.conversations, schema.turns, schema.events
_SERVER_ENDED = "The server ended while this was running."
_LONGEST_TURN = timedelta(days=1)
"""After that, a turn whose server can't be asked, as it was on another machine, counts as abandoned."""
_ASKED = '%"type":"questions_asked"%'
"""In the JSON of no other event, as quotation marks inside of texts are escaped."""
_MOST_ROUNDS = 10
_LONGEST_MESSAGE = 8_000
_LONGEST_HISTORY = 24_000


@dataclass(frozen=True)
class Entry:
    """An event on its way into the journal."""

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

    def create_conversation(self, owner: str, title: str) -> str:
        """Begin a conversation and return its id."""
        conversation_id = uuid4().hex
        row = {"id": conversation_id, "owner": owner, "title": storable(title), "created_at": datetime.now(UTC)}
        with writing(self._engine) as connection:
            connection.execute(_CONVERSATIONS.insert().values(**row))
        return conversation_id

    def conversations(self, owner: str) -> tuple[ConversationSummary, ...]:
        """Somebody's conversations, the newest first."""
        columns = (_CONVERSATIONS.c.id, _CONVERSATIONS.c.title, _CONVERSATIONS.c.created_at)
        query = sa.select(*columns).where(_CONVERSATIONS.c.owner == owner).order_by(_CONVERSATIONS.c.created_at.desc(), _CONVERSATIONS.c.id)
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        return tuple(ConversationSummary(id=r.id, title=r.title, created_at=_utc(r.created_at)) for r in rows)

    def owner_of(self, conversation_id: str) -> str | None:
        """Who began the conversation; None if there is no such conversation."""
        with reading(self._engine) as connection:
            owner: str | None = connection.scalar(sa.select(_CONVERSATIONS.c.owner).where(_CONVERSATIONS.c.id == storable(conversation_id)))
        return owner

    def check_owner(self, owner: str, conversation_id: str) -> None:
        """Refuse somebody else's conversation in the same words as one that does not exist.

        Raises:
            RequestError: `owner` has no such conversation.
        """
        if self.owner_of(conversation_id) != owner:
            raise RequestError(f"there is no conversation {conversation_id[:40]!r}", "begin a new one")

    def turn(self, turn_id: str) -> tuple[Record, ...]:
        """The events of one turn, in their order; none if there is no such turn."""
        mine = _EVENTS.c.turn_id == storable(turn_id)
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(_EVENTS).where(mine).order_by(_EVENTS.c.seq)).all()
        return tuple(record for row in rows if (record := read_record(row)))

    def begin_turn(self, conversation_id: str, request: str) -> str:
        """Note a running turn and return its id. The event that ends it also ends it here, see `append`."""
        turn_id = uuid4().hex
        row = {"id": turn_id, "conversation_id": conversation_id, "request": storable(request), "state": "running"}
        with writing(self._engine) as connection:
            connection.execute(_TURNS.insert().values(**row, started_at=datetime.now(UTC), server=self._server))
        return turn_id

    def said(self, owner: str, texts: Iterable[str]) -> frozenset[str]:
        """Which of the texts are requests of `owner`."""
        return self._asked(texts, _CONVERSATIONS.c.owner == owner)

    def said_by_others(self, owner: str, texts: Iterable[str], until: datetime) -> frozenset[str]:
        """Which of the texts somebody else has asked until then, and `owner` has not."""
        texts = list(texts)
        return self._asked(texts, _CONVERSATIONS.c.owner != owner, _TURNS.c.started_at < until) - self.said(owner, texts)

    def _asked(self, texts: Iterable[str], *where: sa.ColumnElement[bool]) -> frozenset[str]:
        joined = sa.select(_TURNS.c.request).join(_CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id)
        with reading(self._engine) as connection:
            return frozenset(connection.execute(joined.where(_TURNS.c.request.in_(list(texts)), *where)).scalars())

    def remove_conversation(self, conversation_id: str) -> None:
        """Forget a conversation with its turns, events, files and threads of agents; contents that another conversation has stay."""
        mine = storable(conversation_id)
        with writing(self._engine) as connection:
            hashes = sa.select(schema.files.c.sha256).where(schema.files.c.conversation_id == mine)
            gone = connection.scalars(hashes).all()
            connection.execute(schema.files.delete().where(schema.files.c.conversation_id == mine))
            kept = sa.select(schema.files.c.sha256)
            contents = schema.contents
            connection.execute(contents.delete().where(contents.c.sha256.in_(gone) & contents.c.sha256.not_in(kept)))
            for table in (_EVENTS, _TURNS, schema.agents):
                connection.execute(table.delete().where(table.c.conversation_id == mine))
            connection.execute(_CONVERSATIONS.delete().where(_CONVERSATIONS.c.id == mine))

    def append(self, entries: Sequence[Entry]) -> list[Record]:
        """Number and keep events in one transaction, and end the turns that these events end.

        Returns one record for each entry, in the same order; the number is 0 where there is no such conversation.
        """
        with writing(self._engine) as connection:
            return _append(connection, entries)

    def history(self, conversation_id: str, after_seq: int = 0) -> tuple[Record, ...]:
        """The events of a conversation after a number, in their order."""
        mine = (_EVENTS.c.conversation_id == storable(conversation_id)) & (_EVENTS.c.seq > after_seq)
        with reading(self._engine) as connection:
            rows = connection.execute(sa.select(_EVENTS).where(mine).order_by(_EVENTS.c.seq)).all()
        return tuple(record for row in rows if (record := read_record(row)))

    def messages(self, conversation_id: str, limit: int = 20) -> tuple[ChatMessage, ...]:
        """What was asked and answered, for a model: the newest finished turns, oldest first, at most `limit` messages.

        Long messages are cut to 8,000 characters, and all together stay below 24,000.
        """
        finished = (_TURNS.c.conversation_id == conversation_id) & (_TURNS.c.state == "finished")
        query = sa.select(_TURNS.c.request, _TURNS.c.answer).where(finished).order_by(_TURNS.c.started_at.desc(), _TURNS.c.id)
        with reading(self._engine) as connection:
            turns = [(_cut(r.request), _cut(r.answer or "")) for r in connection.execute(query.limit(limit // 2))]
        total = 0

        def fits(turn: tuple[str, str]) -> bool:
            nonlocal total
            total += len(turn[0]) + len(turn[1])
            return total <= _LONGEST_HISTORY

        kept = reversed(list(takewhile(fits, turns)))
        return tuple(m for request, answer in kept for m in (_message("user", request), _message("assistant", answer)))

    def rounds(self, conversation_id: str) -> tuple[QuestionsAsked, ...]:
        """What the newest turns in a row have asked the person, the newest first; none if the newest has asked nothing."""
        mine = _TURNS.c.conversation_id == storable(conversation_id)
        newest = sa.select(_TURNS.c.id).where(mine).order_by(_TURNS.c.started_at.desc(), _TURNS.c.id).limit(_MOST_ROUNDS)
        found = []
        with reading(self._engine) as connection:
            for turn_id in connection.scalars(newest).all():
                asked = (_EVENTS.c.turn_id == turn_id) & _EVENTS.c.event.like(_ASKED)
                row = connection.execute(sa.select(_EVENTS).where(asked).limit(1)).first()
                record = read_record(row) if row else None
                if record is None or not isinstance(record.event, QuestionsAsked):
                    break
                found.append(record.event)
        return tuple(found)

    def stop_abandoned_turns(self) -> list[Record]:
        """End the turns that killed servers left running; those of a server that still runs go on."""
        running = sa.select(_TURNS).where(_TURNS.c.state == "running").order_by(_TURNS.c.started_at).with_for_update()
        event = TurnStopped(reason=_SERVER_ENDED)
        with writing(self._engine) as connection:
            left = [turn for turn in connection.execute(running).all() if _abandoned(turn)]
            return _append(connection, [Entry(t.conversation_id, t.id, datetime.now(UTC), event) for t in left])


def _abandoned(turn: sa.Row[Any]) -> bool:
    known = is_running(turn.server) if turn.server else False
    return datetime.now(UTC) - _utc(turn.started_at) > _LONGEST_TURN if known is None else not known


def _append(connection: sa.Connection, entries: Sequence[Entry]) -> list[Record]:
    counts = Counter(e.conversation_id for e in entries)
    following = {c: _reserve(connection, c, counts[c]) for c in sorted(counts)}
    records, rows = [], []
    for entry, (event, text) in [(e, _dump(e.event)) for e in entries]:
        seq = following[entry.conversation_id]
        records.append(Record(conversation_id=entry.conversation_id, seq=seq, turn_id=entry.turn_id, at=entry.at, event=event))
        if seq:
            following[entry.conversation_id] += 1
            key = {"conversation_id": entry.conversation_id, "seq": seq}
            rows.append({**key, "turn_id": entry.turn_id, "at": entry.at, "event": text})
    if rows:
        connection.execute(_EVENTS.insert(), rows)
    for record in records:
        _end_turn(connection, record)
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


def _end_turn(connection: sa.Connection, record: Record) -> None:
    match record.event:
        case TurnFinished(answer=answer):
            outcome = {"state": "finished", "answer": storable(answer)}
        case TurnFailed():
            outcome = {"state": "failed"}
        case TurnStopped():
            outcome = {"state": "stopped"}
        case _:
            return
    running = (_TURNS.c.id == record.turn_id) & (_TURNS.c.state == "running")
    connection.execute(_TURNS.update().where(running).values(**outcome))


def _dump(event: Event) -> tuple[Event, str]:
    """The event and its JSON; halves of surrogate pairs, which no UTF-8 can carry, are replaced in both."""
    try:
        return event, EVENT.dump_json(event).decode()
    except PydanticSerializationError:
        clean = EVENT.validate_python(storable_data(event.model_dump()))
        if isinstance(event, TurnStarted | FilesMade):
            clean = clean.model_copy(update={"contents": event.contents})  # which no dump holds
        return clean, EVENT.dump_json(clean).decode()


def read_record(row: sa.Row[Any]) -> Record | None:
    """The record of a row of the table of events; None if another version wrote what this one can't read."""
    try:
        event = EVENT.validate_json(row.event)
    except ValidationError:  # written by another version; the rest of the conversation is still worth reading
        logger.exception("event %d of conversation %s can't be read", row.seq, row.conversation_id)
        return None
    return Record(conversation_id=row.conversation_id, seq=row.seq, turn_id=row.turn_id, at=_utc(row.at), event=event)


def _message(role: str, content: str) -> ChatMessage:
    return ChatMessage.model_validate({"role": role, "content": content})


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def _utc(moment: datetime) -> datetime:
    """SQLite keeps no time zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
