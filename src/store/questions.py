"""The questions that a conversation waits for the answers to."""

import sqlalchemy as sa

from src.core.events import QuestionsAsked
from src.store.database import reading
from src.store.journal import read_record
from src.store.schema import events, turns
from src.store.text import storable

_MARK = '%"type":"questions_asked"%'
"""In the JSON of no other event, as a quotation mark inside a text is escaped."""
_MOST = 10
"""Turns that are looked at."""


class OpenQuestions:
    """All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def rounds(self, conversation_id: str) -> tuple[QuestionsAsked, ...]:
        """What the newest turns in a row have asked, the newest first; none if the newest has asked nothing."""
        mine = turns.c.conversation_id == storable(conversation_id)
        newest = sa.select(turns.c.id).where(mine).order_by(turns.c.started_at.desc(), turns.c.id).limit(_MOST)
        found = []
        with reading(self._engine) as connection:
            for turn_id in connection.scalars(newest).all():
                asked = (events.c.turn_id == turn_id) & events.c.event.like(_MARK)
                row = connection.execute(sa.select(events).where(asked).order_by(events.c.seq.desc()).limit(1)).first()
                record = read_record(row) if row else None
                if record is None or not isinstance(record.event, QuestionsAsked):
                    break
                found.append(record.event)
        return tuple(found)
