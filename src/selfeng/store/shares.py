"""Shares: links under which anybody may read one conversation, as it was when the link was made or
renewed.
"""

import asyncio
import hmac
import secrets
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Literal
from uuid import uuid4

import sqlalchemy as sa

from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.events import (
    FINAL,
    AnswerCorrected,
    AnswerToken,
    CodeRun,
    ConsentDecided,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    FilesMade,
    NoToolFound,
    PlanMade,
    PlanStepChanged,
    QuestionsAsked,
    Record,
    Searching,
    StageEntered,
    SuiteRepeated,
    SynthesisStep,
    TestFinished,
    ToolFound,
    ToolMismatch,
    TurnFailed,
    TurnFinished,
    TurnResumed,
    TurnStarted,
    TurnStopped,
    branch,
)
from selfeng.core.files import File
from selfeng.core.result import Result
from selfeng.core.stage_event import Usage
from selfeng.core.value import Value
from selfeng.core.verdict import Returned
from selfeng.store import schema
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import fetch, storable, writing
from selfeng.store.journal import Journal

MOST = 50
"""Links of one conversation."""
_TOKEN_BYTES = 24
_SHARES, _CONVERSATIONS = schema.shares, schema.conversations
_SHOWN = (
    TurnStarted,
    TurnResumed,
    StageEntered,
    Searching,
    ToolFound,
    NoToolFound,
    SynthesisStep,
    TestFinished,
    SuiteRepeated,
    AnswerCorrected,
    PlanMade,
    PlanStepChanged,
    Executing,
    ConsentDecided,
    ExecutionFinished,
    ExecutionFailed,
    FilesMade,
    ToolMismatch,
    DelegationChanged,
    CodeRun,
    QuestionsAsked,
    AnswerToken,
    *FINAL,
)
"""The events of the conversation itself; all others are its owner's or the server's."""


class Share(Value):
    """A link, without its token, which is not kept. All times are UTC."""

    id: str
    created_at: datetime
    updated_at: datetime
    """When what it shows was last taken from the conversation."""
    expires_at: datetime | None
    """None: only when it is revoked."""


class MadeShare(Share):
    """A link that was just made."""

    token: str
    """It can't be had again."""


class SharedConversation(Value):
    """A conversation, as its link shows it."""

    id: str
    """Of the conversation; for this process only."""
    title: str
    updated_at: datetime
    last_seq: int


class Shares:
    """Makes, lists and opens links. A deleted conversation's links open nothing until it is
    restored.
    """

    def __init__(self, engine: sa.Engine, journal: Journal, files: ConversationFiles) -> None:
        self._engine, self._journal, self._files = engine, journal, files

    async def create(
        self, owner: str, conversation_id: str, days: Literal[7, 30] | None = None
    ) -> MadeShare:
        """A link to what the conversation has now, which ends after some days, or only when it is
        revoked.

        Raises:
            ResourceNotFound: `owner` has no such conversation.
            RequestError: it has too many links.
        """
        token, now = secrets.token_urlsafe(_TOKEN_BYTES), datetime.now(UTC)
        ends = now + timedelta(days=days) if days else None
        times = {"created_at": now, "updated_at": now, "expires_at": ends}
        row = {"id": uuid4().hex, "conversation_id": conversation_id, **times}

        def insert() -> None:
            if len(self._listed(owner, conversation_id)) >= MOST:
                raise RequestError(
                    f"the conversation has {MOST} links", "revoke one of them", cause="full"
                )
            with writing(self._engine) as connection:
                connection.execute(
                    _SHARES.insert().values(
                        **row, token=_hash(token), last_seq=_last_seq(conversation_id)
                    )
                )

        await asyncio.to_thread(insert)
        return MadeShare(id=row["id"], token=token, **times)

    async def listed(self, owner: str, conversation_id: str) -> tuple[Share, ...]:
        """The links of a conversation that still open it, the newest first. Raises:
        ResourceNotFound: `owner` has no such conversation.
        """
        return await asyncio.to_thread(self._listed, owner, conversation_id)

    async def renew(self, owner: str, conversation_id: str, share_id: str) -> None:
        """Let a link show what the conversation has now. Raises: ResourceNotFound: there is no such
        link, or `owner` has no such conversation.
        """
        now = {"last_seq": _last_seq(conversation_id), "updated_at": datetime.now(UTC)}
        await self._change(owner, conversation_id, share_id, _SHARES.update().values(**now))

    async def revoke(self, owner: str, conversation_id: str, share_id: str) -> None:
        """End a link. Raises: ResourceNotFound: there is no such link, or `owner` has no such
        conversation.
        """
        await self._change(owner, conversation_id, share_id, _SHARES.delete())

    async def opened(self, token: str) -> SharedConversation | None:
        """The conversation that a token opens; None if it is unknown, expired or revoked."""
        return await asyncio.to_thread(self._opened, token)

    async def records(self, shared: SharedConversation) -> tuple[Record, ...]:
        """The turns that had ended when the link was made or renewed, numbered again from 1;
        without events that reveal the server, the library or the conversation's id.
        """
        return await asyncio.to_thread(self._records, shared)

    async def file(self, shared: SharedConversation, sha256: str, name: str) -> File:
        """A file of the turns that are shown. Raises: ResourceNotFound: they have no such file."""
        records = await self.records(shared)
        if (sha256, name) not in {(f.sha256, f.name) for r in records for f in _files(r.event)}:
            raise ResourceNotFound("the conversation has no such file", "")
        return await asyncio.to_thread(self._files.read, shared.id, sha256, name)

    async def result(self, shared: SharedConversation, sha256: str) -> Result:
        """A value of the turns that are shown. Raises: ResourceNotFound: they have no such
        value.
        """
        if sha256 not in {s for r in await self.records(shared) for s in _results(r.event)}:
            raise ResourceNotFound("the conversation has no such result", "")
        return await asyncio.to_thread(self._files.result, shared.id, sha256)

    def _listed(self, owner: str, conversation_id: str) -> tuple[Share, ...]:
        self._journal.conversation(owner, conversation_id)
        condition = _SHARES.c.conversation_id == storable(conversation_id)
        query = sa.select(*(_SHARES.c[name] for name in Share.model_fields)).where(
            condition, _alive()
        )
        rows = fetch(self._engine, query.order_by(_SHARES.c.created_at.desc()))
        return tuple(Share(**_in_utc(row._mapping)) for row in rows)

    async def _change(
        self, owner: str, conversation_id: str, share_id: str, change: sa.Update | sa.Delete
    ) -> None:
        condition = (_SHARES.c.conversation_id == storable(conversation_id)) & (
            _SHARES.c.id == storable(share_id)
        )

        def changed() -> int:
            self._journal.conversation(owner, conversation_id)
            with writing(self._engine) as connection:
                return connection.execute(change.where(condition, _alive())).rowcount

        if not await asyncio.to_thread(changed):
            raise ResourceNotFound(f"unknown link {share_id[:40]!r}", "list the links again")

    def _opened(self, token: str) -> SharedConversation | None:
        hashed = _hash(token)
        query = (
            sa.select(
                _SHARES.c.token,
                _SHARES.c.last_seq,
                _SHARES.c.updated_at,
                _CONVERSATIONS.c.id,
                _CONVERSATIONS.c.title,
            )
            .join(_CONVERSATIONS, _CONVERSATIONS.c.id == _SHARES.c.conversation_id)
            .where(_SHARES.c.token == hashed, _CONVERSATIONS.c.deleted_at.is_(None), _alive())
        )
        row = next(iter(fetch(self._engine, query)), None)
        if row is None or not hmac.compare_digest(row.token, hashed):
            return None
        columns = _in_utc(row._mapping)
        return SharedConversation(**{k: v for k, v in columns.items() if k != "token"})

    def _records(self, shared: SharedConversation) -> tuple[Record, ...]:
        records = [r for r in self._journal.history(shared.id) if r.seq <= shared.last_seq]
        final_turns = {r.turn_id for r in records if isinstance(r.event, FINAL)}
        final_turns &= branch(r for r in records if r.turn_id in final_turns)
        public_records = (
            r.model_copy(update={"event": event, "conversation_id": ""})
            for r in records
            if r.turn_id in final_turns and (event := _public(r.event)) is not None
        )
        return tuple(r.model_copy(update={"seq": n}) for n, r in enumerate(public_records, 1))


def _public(event: Event) -> Event | None:
    """The event without what is its owner's or the server's; None if nothing is left."""
    nothing: dict[str, Any] = {"usage": Usage()}
    match event:
        case SynthesisStep(state="streaming"):
            return None
        case ToolFound() | NoToolFound():
            return event.model_copy(
                update={"considered": (), "confidences": (), "reason": "", "standalone": ""}
            )
        case DelegationChanged():
            return event.model_copy(update={"thread": ""})
        case TurnFinished():
            return event.model_copy(update=nothing | {"nearest": (), "remedy": ""})
        case TurnFailed(kind="task" | "budget"):
            return event.model_copy(update=nothing | {"remedy": ""})
        case TurnFailed():
            return event.model_copy(update=nothing | {"message": "", "remedy": "", "values": {}})
        case TurnStopped():
            return event.model_copy(update=nothing)
        case _:
            return event if isinstance(event, _SHOWN) else None


def _files(event: Event) -> Sequence[Any]:
    return event.files if isinstance(event, TurnStarted | FilesMade) else ()


def _results(event: Event) -> Iterator[str]:
    match event:
        case ExecutionFinished(execution=Returned(value=value)) if value is not None:
            yield value.sha256


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _alive() -> sa.ColumnElement[bool]:
    return _SHARES.c.expires_at.is_(None) | (_SHARES.c.expires_at > datetime.now(UTC))


def _last_seq(conversation_id: str) -> sa.ScalarSelect[int]:
    condition = _CONVERSATIONS.c.id == storable(conversation_id)
    return sa.select(_CONVERSATIONS.c.last_seq).where(condition).scalar_subquery()


def _in_utc(row: Any) -> dict[str, Any]:
    """SQLite does not store the zone."""
    return {
        name: value.replace(tzinfo=UTC)
        if isinstance(value, datetime) and value.tzinfo is None
        else value
        for name, value in row.items()
    }
