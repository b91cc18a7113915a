"""Habits: when a person used a tool, what they often ask after it, and which tools they use
together; and what all persons together made of each tool.
"""

import json
from collections import Counter, defaultdict
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.value import Value
from selfeng.core.verdict import Alterations, Verdict
from selfeng.store import schema
from selfeng.store.database import utc

OFTEN = 2
"""How many times make a habit."""
_MOST = 3
_LAST = 5
"""Uses of a tool that are listed one by one."""
_LOOKED_BACK = 2_000
"""Newest calls of tools that are counted."""
_MOST_CALLS = 500
"""Newest calls of one tool that are listed with their time."""


class FollowUp(Value):
    """A tool that a person uses in the turn after another."""

    tool: str
    request: str
    """The newest request of that kind."""
    times: int


class PastTurn(Value):
    """A turn that a tool played a part in."""

    conversation_id: str
    request: str


class PastCall(Value):
    at: datetime
    """When it ended, UTC."""
    returned: bool
    """False: the tool raised, or the sandbox ended it."""


class Habits(Value):
    """A person's habits with a tool; a habit of less than `OFTEN` times is left out, and so are
    deleted conversations.
    """

    after: tuple[FollowUp, ...] = ()
    """The most frequent first; at most three."""
    together: tuple[str, ...] = ()
    """Tools used in the same or a neighbouring turn, the most frequent first; at most three."""
    made: PastTurn | None = None
    """The turn that built it; None if another person's did, or none."""
    last: tuple[PastTurn, ...] = ()
    """The newest turns that used it, the newest first; at most five."""
    calls: tuple[PastCall, ...] = ()
    """The newest calls, the newest first; at most 500."""


class ToolUses(NamedTuple):
    """The recorded uses of a tool by all persons: when its version was made and when it last
    served, UTC; how much its suite notices, if the gate measured that; the number of calls whose
    values conversations keep, of the persons who made them, and of those who called any tool; and
    the seconds that the newest calls took.
    """

    made_at: datetime
    used_at: datetime | None = None
    strength: Alterations | None = None
    calls: int = 0
    persons: int = 0
    all_persons: int = 0
    seconds: tuple[float, ...] = ()


class _Use(NamedTuple):
    turn: str
    conversation: str
    request: str
    tool: str
    call: PastCall
    seconds: float


def read_habits(connection: sa.Connection, owner: str, tool: str) -> Habits:
    """The habits with a tool in the newest turns of `owner`."""
    after: Counter[str] = Counter()
    together: Counter[str] = Counter()
    newest: dict[str, str] = {}
    last: list[PastTurn] = []
    former: dict[str, set[str]] = {}  # conversation → tools of its turn before
    called = _calls(connection, owner)
    returned = (use for use in called if use.call.returned)
    turns = [list(uses) for _, uses in groupby(returned, key=lambda use: use.turn)]
    for uses in reversed(turns):  # the oldest first
        now, first_use = {use.tool for use in uses}, uses[0]
        before = former.get(first_use.conversation, set())
        former[first_use.conversation] = now
        other_tools = now - {tool}
        if tool in before:
            after.update(other_tools)
            newest.update(dict.fromkeys(other_tools, first_use.request))
        if tool in before or tool in now:
            together.update(other_tools)
        if tool in now:
            together.update(before - now)
            last.insert(
                0, PastTurn(conversation_id=first_use.conversation, request=first_use.request)
            )
    return Habits(
        after=tuple(
            FollowUp(tool=name, request=newest[name], times=times) for name, times in _often(after)
        ),
        together=tuple(name for name, _ in _often(together)),
        made=_building_turn(connection, owner, tool),
        last=tuple(last[:_LAST]),
        calls=tuple(use.call for use in called if use.tool == tool)[:_MOST_CALLS],
    )


def read_last_uses(connection: sa.Connection, owner: str) -> dict[str, datetime]:
    """When `owner` last used each tool, as far as their newest calls show."""
    return {use.tool: use.call.at for use in _calls(connection, owner)[::-1] if use.call.returned}


def read_tool_uses(connection: sa.Connection) -> dict[str, ToolUses]:
    """The uses of every tool by anybody, by name."""
    tools, versions, conversations = schema.tools, schema.tool_versions, schema.conversations
    in_force = (versions.c.name == tools.c.name) & (versions.c.version == tools.c.version)
    columns = (tools.c.name, tools.c.used_at, versions.c.created_at, versions.c.verdict)
    called = (
        sa.select(schema.results.c.tool, conversations.c.owner, sa.func.count().label("calls"))
        .join(conversations, conversations.c.id == schema.results.c.conversation_id)
        .where(conversations.c.deleted_at.is_(None))
        .group_by(schema.results.c.tool, conversations.c.owner)
    )
    counts, seconds = defaultdict[str, list[int]](list), defaultdict[str, list[float]](list)
    persons = set[str]()
    for row in connection.execute(called):
        counts[row.tool].append(row.calls)
        persons.add(row.owner)
    for use in _calls(connection):
        seconds[use.tool] += [use.seconds] if use.call.returned else []
    return {
        row.name: ToolUses(
            utc(row.created_at),
            row.used_at and utc(row.used_at),
            row.verdict and Verdict.model_validate_json(row.verdict).strength,
            calls=sum(counts[row.name]),
            persons=len(counts[row.name]),
            all_persons=len(persons),
            seconds=tuple(seconds[row.name]),
        )
        for row in connection.execute(sa.select(*columns).join(versions, in_force))
    }


def _building_turn(connection: sa.Connection, owner: str, tool: str) -> PastTurn | None:
    """The newest turn of `owner` that added the tool to the library."""
    turns, events, conversations = schema.turns, schema.events, schema.conversations
    registered = f'"text":{json.dumps(f"{tool} is in the library.")}'
    query = (
        sa.select(turns.c.conversation_id, turns.c.request)
        .join(events, events.c.turn_id == turns.c.id)
        .join(conversations, conversations.c.id == turns.c.conversation_id)
        .where(conversations.c.owner == owner, conversations.c.deleted_at.is_(None))
        .where(conversations.c.kind != "temporary")
        .where(events.c.type == "synthesis_step")
        .where(events.c.event.contains('"step":"register"', autoescape=True))
        .where(events.c.event.contains(registered, autoescape=True))
        .order_by(turns.c.started_at.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return PastTurn(conversation_id=row[0], request=row[1]) if row else None


def _often(counted: Counter[str]) -> list[tuple[str, int]]:
    often = [(name, times) for name, times in counted.items() if times >= OFTEN]
    return sorted(often, key=lambda pair: (-pair[1], pair[0]))[:_MOST]


def _calls(connection: sa.Connection, owner: str | None = None) -> list[_Use]:
    """The newest calls of tools, by default of all persons, those of the newest turn first; without
    those of answers that were corrected, whose requests the turns that correct them have.
    """
    turns, events, conversations = schema.turns, schema.events, schema.conversations
    query = (
        sa.select(
            turns.c.id,
            turns.c.conversation_id,
            turns.c.request,
            events.c.event,
            events.c.at,
            events.c.type,
        )
        .join(events, events.c.turn_id == turns.c.id)
        .join(conversations, conversations.c.id == turns.c.conversation_id)
        .where(sa.true() if owner is None else conversations.c.owner == owner)
        .where(conversations.c.deleted_at.is_(None), conversations.c.kind != "temporary")
        .where(events.c.type.in_(("execution_finished", "execution_failed", "answer_corrected")))
        .order_by(turns.c.started_at.desc(), turns.c.id, events.c.seq)
        .limit(_LOOKED_BACK)
    )
    rows = connection.execute(query).all()
    requests = {row.id: row.request for row in rows}
    wrong = {
        row.id: json.loads(row.event)["turn_id"] for row in rows if row.type == "answer_corrected"
    }
    return [
        _Use(
            row.id,
            row.conversation_id,
            requests.get(wrong.get(row.id), row.request),
            event["tool"],
            PastCall(at=utc(row.at), returned=row.type == "execution_finished"),
            event.get("seconds", 0.0),
        )
        for row in rows
        if row.type != "answer_corrected" and row.id not in wrong.values()
        for event in [json.loads(row.event)]
    ]
