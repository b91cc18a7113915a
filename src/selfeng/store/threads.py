"""The threads of agents: stored exchange by exchange, and found by conversation, sender and kind of
agent.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from selfeng.core.prompt import AgentThread, ChatMessage
from selfeng.store import schema
from selfeng.store.database import reading, storable, writing
from selfeng.store.effects import known_effect, note_effect

_AGENTS, _MESSAGES = schema.agents, schema.agent_messages


class Threads:
    """All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def open(self, conversation_id: str, sender: str, agent: str) -> AgentThread:
        """The thread of this sender and agent in the conversation; a new one if there is none."""
        with reading(self._engine) as connection:
            if (row := _thread_row(connection, conversation_id, sender, agent)) is None:
                return AgentThread(
                    id=uuid4().hex, conversation_id=conversation_id, sender=sender, agent=agent
                )
            return _loaded(connection, row)

    def append(self, thread: AgentThread, exchange: tuple[ChatMessage, ...], key: str = "") -> None:
        """Store a whole exchange, after those that other turns have stored meanwhile; once for each
        key, if it has one.
        """
        now = datetime.now(UTC)
        with writing(self._engine) as connection:
            if known_effect(connection, key) is not None:
                return
            note_effect(connection, key)
            row = _thread_row(connection, thread.conversation_id, thread.sender, thread.agent)
            if row is None:
                pair = {
                    "conversation_id": storable(thread.conversation_id),
                    "sender": thread.sender,
                    "agent": thread.agent,
                }
                connection.execute(_AGENTS.insert().values(id=thread.id, **pair, created_at=now))
            agent_id = thread.id if row is None else row.id
            count = (
                connection.scalar(
                    sa.select(sa.func.count()).where(_MESSAGES.c.agent_id == agent_id)
                )
                or 0
            )
            new = [message for message in exchange if not (count and message.role == "system")]
            rows = [
                {
                    "agent_id": agent_id,
                    "position": position,
                    "role": message.role,
                    "content": storable(message.content),
                    "at": now,
                }
                for position, message in enumerate(new, count)
            ]
            connection.execute(_MESSAGES.insert(), rows)


def _thread_row(
    connection: sa.Connection, conversation_id: str, sender: str, agent: str
) -> sa.Row[Any] | None:
    pair = (_AGENTS.c.sender == sender) & (_AGENTS.c.agent == agent)
    return connection.execute(
        sa.select(_AGENTS).where(pair & (_AGENTS.c.conversation_id == storable(conversation_id)))
    ).first()


def _loaded(connection: sa.Connection, row: sa.Row[Any]) -> AgentThread:
    query = (
        sa.select(_MESSAGES.c.role, _MESSAGES.c.content)
        .where(_MESSAGES.c.agent_id == row.id)
        .order_by(_MESSAGES.c.position)
    )
    messages = tuple(ChatMessage(role=m.role, content=m.content) for m in connection.execute(query))
    return AgentThread(
        id=row.id,
        conversation_id=row.conversation_id,
        sender=row.sender,
        agent=row.agent,
        messages=messages,
    )
