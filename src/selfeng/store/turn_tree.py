"""The tree of a conversation's turns: each follows another, or begins it. All that a turn knows of
its conversation is on the path from the beginning to the turn that it follows.
"""

import re
from datetime import UTC, datetime
from uuid import uuid4

import sqlalchemy as sa

from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.visible import one_line
from selfeng.store import schema
from selfeng.store.database import storable

_TURNS, _EVENTS, _CONVERSATIONS = schema.turns, schema.events, schema.conversations
_LONGEST_ID = 40
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')  # of JSON


def newest(conversation_id: str) -> sa.Select[str]:
    """The id of the newest turn."""
    of_conversation = _TURNS.c.conversation_id == storable(conversation_id)
    by_age = _TURNS.c.started_at.desc(), _TURNS.c.id
    return sa.select(_TURNS.c.id).where(of_conversation).order_by(*by_age).limit(1)


def path(conversation_id: str, last: str | None = None) -> sa.CTE:
    """A table of the turns `id` from `last`, None for the newest, back to the beginning; `back`
    counts from 0.
    """
    of_last = _TURNS.c.id == (
        newest(conversation_id).scalar_subquery() if last is None else storable(last)
    )
    of_conversation = _TURNS.c.conversation_id == storable(conversation_id)
    columns = _TURNS.c.id, _TURNS.c.parent_id
    begin = sa.select(*columns, sa.literal(0).label("back")).where(of_last, of_conversation)
    table = begin.cte("path", recursive=True)
    earlier = sa.select(*columns, table.c.back + 1).where(_TURNS.c.id == table.c.parent_id)
    return table.union_all(earlier)


def newest_from(connection: sa.Connection, turn_id: str) -> str | None:
    """The newest turn of all that follow a turn, or it."""
    table = sa.select(_TURNS.c.id, _TURNS.c.started_at).where(_TURNS.c.id == turn_id)
    below = table.cte("below", recursive=True)
    following = sa.select(_TURNS.c.id, _TURNS.c.started_at).where(_TURNS.c.parent_id == below.c.id)
    below = below.union_all(following)
    newest_first = sa.select(below.c.id).order_by(below.c.started_at.desc())
    turn: str | None = connection.scalar(newest_first.limit(1))
    return turn


def parent_of_new(connection: sa.Connection, conversation_id: str, after: str | None) -> str | None:
    """The turn that a new one follows, see `TurnStarted.after`; None if it begins the conversation.

    Raises: ResourceNotFound: the conversation has no such turn.
    """
    if after is None:
        return connection.scalar(newest(conversation_id))
    _check(connection, conversation_id, after)
    return after or None


def _check(connection: sa.Connection, conversation_id: str, turn_id: str) -> None:
    of_turn = _TURNS.c.id == storable(turn_id)
    query = sa.select(_TURNS.c.conversation_id).where(of_turn)
    if turn_id and connection.scalar(query) != conversation_id:
        raise ResourceNotFound(
            f"the conversation has no turn {one_line(turn_id)[:_LONGEST_ID]!r}",
            "name one that it lists, or none for the newest",
        )


def fork(connection: sa.Connection, conversation_id: str, turn_id: str) -> str:
    """Copy the path to a turn into a new conversation of the same owner, whose id is returned.

    Raises: ResourceNotFound: there is no such turn; RequestError: a turn of the path runs.
    """
    _check(connection, conversation_id, turn_id)
    steps = path(conversation_id, turn_id)
    on_path = sa.select(_TURNS).join(steps, steps.c.id == _TURNS.c.id).order_by(steps.c.back.desc())
    turns = connection.execute(on_path).mappings().all()
    if any(turn["state"] == "running" for turn in turns):
        raise RequestError(
            "the turn runs", "wait for its end, then continue from it", cause="running"
        )
    new_ids = {turn["id"]: uuid4().hex for turn in turns} | {conversation_id: uuid4().hex}
    new_id, now = new_ids[conversation_id], datetime.now(UTC)
    of_turns = _EVENTS.c.turn_id.in_(sa.select(steps.c.id))
    events = connection.execute(sa.select(_EVENTS).where(of_turns).order_by(_EVENTS.c.seq))
    numbers, copies = dict[int, int](), []
    for event in events.mappings():
        numbers[event["seq"]] = number = len(numbers) + 1
        text = _STRING.sub(lambda match: f'"{new_ids.get(match[1], match[1])}"', event["event"])
        copy = {"conversation_id": new_id, "seq": number, "event": text}
        copies.append({**event, **copy, "turn_id": new_ids[event["turn_id"]]})
    original = sa.select(_CONVERSATIONS).where(_CONVERSATIONS.c.id == conversation_id)
    conversation = connection.execute(original).mappings().one()
    last = {"last_seq": len(numbers), "seen_seq": len(numbers)}
    fresh = {"id": new_id, "created_at": now, "active_at": turns[-1]["started_at"]}
    fresh |= {"pinned": False, **last}
    connection.execute(_CONVERSATIONS.insert().values({**conversation, **fresh}))
    for turn in turns:
        parent = new_ids.get(turn["parent_id"])
        ids = {"id": new_ids[turn["id"]], "conversation_id": new_id, "parent_id": parent}
        connection.execute(_TURNS.insert().values({**turn, **ids}))
    connection.execute(_EVENTS.insert(), copies)
    for table in (schema.files, schema.results):
        of_conversation = table.c.conversation_id == conversation_id
        for row in connection.execute(sa.select(table).where(of_conversation)).mappings().all():
            if row["seq"] in numbers:
                copy = {"conversation_id": new_id, "seq": numbers[row["seq"]]}
                copy |= {"turn_id": new_ids[row["turn_id"]]} if "turn_id" in row else {}
                connection.execute(table.insert().values({**row, **copy}))
    return new_id
