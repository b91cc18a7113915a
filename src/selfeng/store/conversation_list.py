"""The list of conversations: what a person sees of each, finds by its words, and changes."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

import sqlalchemy as sa
from pydantic import Field, StringConstraints, model_validator

from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import storable

LONGEST_TITLE = 200
"""Characters."""
KEPT_AFTER_DELETION = timedelta(days=1)
"""A deleted conversation can be restored for at least this long; a temporary one stays so long
after its newest turn began.
"""
_CONVERSATIONS, _TURNS, _SPENDING = schema.conversations, schema.turns, schema.spending
_MOST_FOUND = 50
_MOST_WORDS = 8
_MOST_TURNS = 500
"""Turns that are read for the snippets of a search."""

ConversationKind = Literal["chat", "project", "temporary"]
"""The kind of a conversation's turns: requests, or work on a project. A temporary one is in no
list, and nothing is learnt from it.
"""
ModelName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[ -~]*$")
]


class ConversationSummary(Value):
    """A conversation without its events."""

    id: str
    title: str
    created_at: datetime
    """UTC."""
    kind: ConversationKind = "chat"
    pinned: bool = False
    model: str = ""
    """"" for the configured one."""
    tokens: int = 0
    """The number of tokens that its turns have used."""
    cost: float | None = None
    """The same in US dollars, where the price is known."""
    active_at: datetime
    """When its newest turn began, in whole seconds, UTC."""
    running: bool = False
    unread: bool = False
    """It has records that its owner has not seen."""
    has_files: bool = False
    """Files came with its requests, or tools made some."""
    snippet: str = ""
    """The match of a search: a line of the newest request or answer that has one of its words."""


class ConversationChange(Value):
    """A person's changes to a conversation; None leaves a field as it is."""

    title: (
        Annotated[
            str,
            StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TITLE),
        ]
        | None
    ) = None
    pinned: Annotated[bool | None, Field(strict=True)] = None
    deleted: Annotated[bool | None, Field(strict=True)] = None
    """False restores it, unless it was temporary."""
    model: ModelName | None = None
    """For its next turns; "" for the configured one."""
    seen: Literal[True] | None = None

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if self == type(self).model_construct():
            raise ValueError("nothing is to change")
        return self


def summaries(*where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The columns of `ConversationSummary`, of conversations that are not deleted."""
    of_conversation = _TURNS.c.conversation_id == _CONVERSATIONS.c.id
    column_names = ("id", "title", "created_at", "active_at", "kind", "pinned", "model")
    tokens, cost = (
        sa.select(sa.func.sum(_SPENDING.c[name]))
        .where(_SPENDING.c.conversation_id == _CONVERSATIONS.c.id)
        .scalar_subquery()
        for name in ("tokens", "cost")
    )
    return sa.select(
        *(_CONVERSATIONS.c[name] for name in column_names),
        sa.func.coalesce(tokens, 0).label("tokens"),
        cost.label("cost"),
        sa.exists().where(of_conversation, _TURNS.c.state == "running").label("running"),
        (_CONVERSATIONS.c.last_seq > _CONVERSATIONS.c.seen_seq).label("unread"),
        sa.exists().where(schema.files.c.conversation_id == _CONVERSATIONS.c.id).label("has_files"),
    ).where(_CONVERSATIONS.c.deleted_at.is_(None), *where)


def find_conversations(
    connection: sa.Connection,
    owner: str,
    kind: ConversationKind,
    text: str = "",
    limit: int | None = None,
) -> list[sa.Row[Any]]:
    """Rows of `summaries`, the newest first, at most `limit`; with a text at most 50 that have all
    its words in their title, requests or answers.
    """
    words = storable(text).split()[:_MOST_WORDS]
    query = summaries(
        _CONVERSATIONS.c.owner == owner, _CONVERSATIONS.c.kind == kind, *map(_has, words)
    ).order_by(
        _CONVERSATIONS.c.active_at.desc(), _CONVERSATIONS.c.created_at.desc(), _CONVERSATIONS.c.id
    )
    return list(connection.execute(query.limit(_MOST_FOUND if words else limit)))


def snippets(connection: sa.Connection, ids: list[str], text: str) -> dict[str, str]:
    """For conversations that have one of a text's words in a turn: the line around that word."""
    words = storable(text).split()[:_MOST_WORDS]
    turns = (
        sa.select(_TURNS.c.conversation_id, _TURNS.c.request, _TURNS.c.answer)
        .where(_TURNS.c.conversation_id.in_(ids), sa.or_(*map(_in_turn, words)))
        .order_by(_TURNS.c.started_at.desc())
        .limit(_MOST_TURNS)
    )
    around = re.compile(rf"[^\n]{{0,40}}(?:{'|'.join(map(re.escape, words))})[^\n]{{0,80}}", re.I)
    newest_last = reversed(connection.execute(turns).all())
    return {
        id: m[0]
        for id, *texts in newest_last
        if (m := around.search("\n".join(filter(None, texts))))
    }


def _has(word: str) -> sa.ColumnElement[bool]:
    of_conversation = _TURNS.c.conversation_id == _CONVERSATIONS.c.id
    return _in(_CONVERSATIONS.c.title, word) | sa.exists().where(of_conversation, _in_turn(word))


def _in_turn(word: str) -> sa.ColumnElement[bool]:
    return _in(_TURNS.c.request, word) | _in(_TURNS.c.answer, word)


def _in(column: sa.ColumnElement[str], word: str) -> sa.ColumnElement[bool]:
    forms = {word, word.lower(), word.title()}  # SQLite folds the case of ASCII only
    return sa.or_(*(column.icontains(form, autoescape=True) for form in sorted(forms)))


def change_conversation(
    connection: sa.Connection, owner: str, conversation_id: str, change: ConversationChange
) -> bool:
    """Whether `owner` has such a conversation, which is changed then."""
    new_values: dict[str, Any] = change.model_dump(
        exclude_none=True, include={"title", "pinned", "model"}
    )
    new_values |= {name: storable(text) for name, text in new_values.items() if name != "pinned"}
    if change.seen:
        new_values["seen_seq"] = _CONVERSATIONS.c.last_seq
    if change.deleted is not None:
        new_values["deleted_at"] = datetime.now(UTC) if change.deleted else None
    of_id = _CONVERSATIONS.c.id == storable(conversation_id)
    there = [] if change.deleted is False else [_CONVERSATIONS.c.deleted_at.is_(None)]
    of_owner = (_CONVERSATIONS.c.owner == owner) & (_CONVERSATIONS.c.kind != "project")
    changed = _CONVERSATIONS.update().where(of_id, of_owner, *there).values(**new_values)
    return connection.execute(changed).rowcount > 0


def deleted_long_ago(connection: sa.Connection) -> list[str]:
    """The ids of conversations that can't be restored any more."""
    until = datetime.now(UTC) - KEPT_AFTER_DELETION
    ids = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.deleted_at < until)
    return list(connection.scalars(ids))


def idle_conversations(
    connection: sa.Connection, kind: ConversationKind, age: timedelta
) -> list[str]:
    """The ids of conversations of the kind that are not pinned, in which nothing runs, that no
    schedule continues, and whose newest turn began so long ago; also of temporary ones that were
    deleted.
    """
    turn = sa.exists().where(_TURNS.c.conversation_id == _CONVERSATIONS.c.id)
    is_old = ~turn.where(_TURNS.c.started_at >= datetime.now(UTC) - age)
    is_deleted = _CONVERSATIONS.c.deleted_at.is_not(None)
    unwanted = is_old | is_deleted if kind == "temporary" else is_old & ~is_deleted
    is_idle = ~turn.where(_TURNS.c.state == "running") & ~_CONVERSATIONS.c.pinned
    is_idle &= ~sa.exists().where(schema.schedules.c.conversation_id == _CONVERSATIONS.c.id)
    ids = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.kind == kind)
    return list(connection.scalars(ids.where(is_idle, unwanted)))
