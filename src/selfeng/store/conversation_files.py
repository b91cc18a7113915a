"""The files of conversations: stored in the same transaction as the event that brings them."""

from collections.abc import Sequence

import sqlalchemy as sa
from pydantic import ValidationError

from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import FilesMade, Record, TurnStarted
from selfeng.core.files import File, FileReference, shown_name
from selfeng.store import schema
from selfeng.store.database import reading
from selfeng.store.text import storable

_FILES, _CONTENTS = schema.files, schema.contents


def keep(connection: sa.Connection, record: Record) -> None:
    """Store the files of an event, unless the event has no number in a conversation."""
    if not isinstance(record.event, TurnStarted | FilesMade) or not record.seq:
        return
    for position, file in enumerate(record.event.contents):
        reference = file.reference()
        known = sa.select(_CONTENTS.c.sha256).where(_CONTENTS.c.sha256 == reference.sha256)
        if connection.scalar(known) is None:
            connection.execute(
                _CONTENTS.insert().values(sha256=reference.sha256, content=file.content)
            )
        key = {"conversation_id": record.conversation_id, "seq": record.seq, "position": position}
        connection.execute(
            _FILES.insert().values(
                **key, reference=reference.model_dump_json(), sha256=reference.sha256
            )
        )


class ConversationFiles:
    """Reads the files of conversations. All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def newest(self, conversation_id: str) -> tuple[FileReference, ...]:
        """The newest file of each name, the newest first."""
        mine = _FILES.c.conversation_id == storable(conversation_id)
        query = (
            sa.select(_FILES.c.reference)
            .where(mine)
            .order_by(_FILES.c.seq.desc(), _FILES.c.position)
        )
        with reading(self._engine) as connection:
            texts = connection.scalars(query).all()
        found: dict[str, FileReference] = {}
        for reference in _references(texts):
            found.setdefault(reference.name, reference)
        return tuple(found.values())

    def read(self, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation by its content's hash and its name, because the same content may
        have several names.

        Raises:
            ResourceNotFound: the conversation has no such file.
        """
        mine = (_FILES.c.conversation_id == storable(conversation_id)) & (
            _FILES.c.sha256 == storable(sha256)
        )
        with reading(self._engine) as connection:
            names = {
                r.name
                for r in _references(
                    connection.scalars(sa.select(_FILES.c.reference).where(mine)).all()
                )
            }
            content = connection.scalar(
                sa.select(_CONTENTS.c.content).where(_CONTENTS.c.sha256 == storable(sha256))
            )
        if name not in names or content is None:
            raise ResourceNotFound(
                f"the conversation has no such file {shown_name(name)!r}", "attach it again"
            )
        return File(name=name, content=content)


def _references(texts: Sequence[str]) -> list[FileReference]:
    found = []
    for text in texts:
        try:
            found.append(FileReference.model_validate_json(text))
        except ValidationError:  # written under other rules for names
            continue
    return found
