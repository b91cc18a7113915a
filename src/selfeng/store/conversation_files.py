"""The files of conversations and the values that their tools returned: stored in the same
transaction as the event that brings them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

import sqlalchemy as sa
from pydantic import ValidationError

from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import (
    LAST_SEQ,
    Event,
    Executing,
    ExecutionFinished,
    FilesMade,
    Record,
    TurnStarted,
)
from selfeng.core.files import LARGE, File, FileReference, LargeFiles, shown_name
from selfeng.core.result import (
    BEGINS,
    NAMED,
    EarlierCall,
    EarlierResult,
    Result,
    ResultReference,
)
from selfeng.core.turn import Contents
from selfeng.core.verdict import Returned
from selfeng.store import schema
from selfeng.store.database import fetch, fetch_column, reading, storable, utc
from selfeng.store.turn_tree import path

RECOMPUTED = 200
"""The most earlier answers that are computed again."""
_FILES, _CONTENTS, _RESULTS = schema.files, schema.contents, schema.results
_PIECES = schema.content_pieces


def brings_contents(event: Event) -> bool:
    """Whether `keep` stores something of it."""
    match event:
        case TurnStarted(contents=files) | FilesMade(contents=files):
            return bool(files)
        case ExecutionFinished(execution=Returned(result=Result())):
            return True
    return False


def keep(connection: sa.Connection, record: Record) -> None:
    """Store the files or the value of an event, unless the event has no number in a
    conversation.
    """
    key = {"conversation_id": record.conversation_id, "seq": record.seq}
    match record.event:
        case _ if not record.seq:
            return
        case TurnStarted(contents=files) | FilesMade(contents=files):
            keep_files(connection, record.conversation_id, record.seq, files)
        case ExecutionFinished(tool=tool, execution=Returned(result=Result() as result)):
            stored = _stored(connection, result.reference, [result.content.encode()])
            stored |= {"turn_id": record.turn_id, "tool": tool}
            connection.execute(_RESULTS.insert().values(**key, **stored))


def keep_files(
    connection: sa.Connection, conversation_id: str, seq: int, files: Iterable[File], first: int = 0
) -> None:
    """Store the files of the event of that number, from the `first` place on; 0: of the
    conversation itself.
    """
    key = {"conversation_id": conversation_id, "seq": seq}
    for position, file in enumerate(files, first):
        stored = _stored(connection, file.reference(), file.pieces())
        connection.execute(_FILES.insert().values(**key, position=position, **stored))


def _stored(
    connection: sa.Connection,
    reference: FileReference | ResultReference,
    pieces: Iterable[bytes],
) -> dict[str, str]:
    """Store a content unless it is there; the columns that refer to it. A result is in one piece,
    even if a file has the same content.
    """
    sha256, coming = reference.sha256, iter(pieces)
    columns = {"reference": reference.model_dump_json(), "sha256": sha256}
    query = sa.select(sa.func.length(_CONTENTS.c.content)).where(_CONTENTS.c.sha256 == sha256)
    if (length := connection.scalar(query)) is None:
        begin = next(coming, b"")
        connection.execute(_CONTENTS.insert().values(sha256=sha256, content=begin))
        for number, piece in enumerate(coming):
            row = {"sha256": sha256, "number": number, "content": piece}
            connection.execute(_PIECES.insert().values(**row))
    elif isinstance(reference, ResultReference) and length < reference.size:
        update = _CONTENTS.update().where(_CONTENTS.c.sha256 == sha256)
        connection.execute(update.values(content=next(coming)))
        connection.execute(_PIECES.delete().where(_PIECES.c.sha256 == sha256))
    return columns


def _content(connection: sa.Connection, sha256: str) -> Iterator[bytes]:
    """A content in pieces; none if it is not there."""
    for table in (_CONTENTS, _PIECES):
        query = sa.select(table.c.content).where(table.c.sha256 == storable(sha256))
        query = query.order_by(table.c.number) if table is _PIECES else query
        yield from connection.execution_options(yield_per=4).scalars(query)


def _calls(
    connection: sa.Connection, turns: Collection[str]
) -> dict[str, list[tuple[int, Executing]]]:
    """The calls of each turn with their numbers, the last first."""
    columns = schema.events.c
    query = sa.select(columns.turn_id, columns.seq, columns.event).where(
        columns.turn_id.in_(turns), columns.type == "executing"
    )
    calls: dict[str, list[tuple[int, Executing]]] = {}
    for turn_id, seq, event in connection.execute(query.order_by(columns.seq.desc())):
        with suppress(ValidationError):  # another version wrote it
            calls.setdefault(turn_id, []).append((seq, Executing.model_validate_json(event)))
    return calls


def _arguments(calls: Sequence[tuple[int, Executing]], tool: str, seq: int) -> str:
    """Those of the last call of the tool before that number; "" if there is none."""
    return next((c.arguments for number, c in calls if number < seq and c.tool == tool), "")


class ConversationFiles:
    """Reads the files and results of conversations. All methods block: call them in a thread."""

    def __init__(self, engine: sa.Engine, large_files: LargeFiles) -> None:
        self._engine, self._large_files = engine, large_files

    def contents(self, conversation_id: str) -> Contents:
        return Contents(
            lambda file: self.read(conversation_id, file.sha256, file.name),
            lambda earlier: self.result(conversation_id, earlier.reference.sha256),
        )

    def newest(
        self, conversation_id: str, before: int | None = None, *, after: str | None = None
    ) -> tuple[FileReference, ...]:
        """The newest file of each name, the newest first, of the turns up to `after`, by default to
        the newest; `before` the event of that number.
        """
        event, steps = schema.events.c, path(conversation_id, after)
        of_event = (event.conversation_id == _FILES.c.conversation_id) & (event.seq == _FILES.c.seq)
        query = (
            sa.select(_FILES.c.reference)
            .join(schema.events, of_event)
            .join(steps, steps.c.id == event.turn_id)
            .where(_FILES.c.seq < (LAST_SEQ if before is None else before))
            .order_by(_FILES.c.seq.desc(), _FILES.c.position)
        )
        newest_by_name: dict[str, FileReference] = {}
        for reference in _references(fetch_column(self._engine, query)):
            newest_by_name.setdefault(reference.name, reference)
        return tuple(newest_by_name.values())

    def read(self, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation by its content's hash and its name, because the same content may
        have several names.

        Raises:
            ResourceNotFound: the conversation has no such file.
        """
        of_file = (_FILES.c.conversation_id == storable(conversation_id)) & (
            _FILES.c.sha256 == storable(sha256)
        )
        with reading(self._engine) as connection:
            texts = connection.scalars(sa.select(_FILES.c.reference).where(of_file)).all()
            reference = next((r for r in _references(texts) if r.name == name), None)
            if reference is None:
                raise ResourceNotFound(
                    f"the conversation has no such file {shown_name(name)!r}", "attach it again"
                )
            copy = self._large_files.get(reference) if reference.size > LARGE else None
            return copy or self._large_files.take(name, _content(connection, sha256))

    def take_in(self, file: File) -> File:
        """The file with a large content in the folder of those."""
        large = len(file.content) > LARGE
        return self._large_files.take(file.name, file.pieces()) if large else file

    def results(
        self, conversation_id: str, turn_id: str = "", *, after: str | None = None
    ) -> tuple[EarlierResult, ...]:
        """The newest values of the turns up to `after`, by default to the newest, or those of one
        of these turns, the oldest first. They are called `r1`, `r2` and so on, by their place among
        all of these values.
        """
        turn, steps = schema.turns.c, path(conversation_id, after)
        query = (
            sa.select(
                _RESULTS.c.reference,
                _RESULTS.c.tool,
                _RESULTS.c.seq,
                turn.id,
                turn.request,
                turn.standalone,
            )
            .join(schema.turns, schema.turns.c.id == _RESULTS.c.turn_id)
            .join(steps, steps.c.id == _RESULTS.c.turn_id)
        )
        head = sa.func.substr(_CONTENTS.c.content, 1, BEGINS, type_=sa.LargeBinary)
        heads = sa.select(_CONTENTS.c.sha256, head)
        with reading(self._engine) as connection:
            rows = connection.execute(query.order_by(_RESULTS.c.seq)).all()
            if not rows:
                return ()
            named_rows = [
                (f"r{number}", row, ResultReference.model_validate_json(row.reference))
                for number, row in enumerate(rows, 1)
            ]
            referable_rows = [row for row in named_rows if row[-1].referable]
            newest_rows = {row[0] for row in (*named_rows[-NAMED:], *referable_rows[-NAMED:])}
            named_rows = [
                row
                for row in named_rows
                if (row[1].id == turn_id if turn_id else row[0] in newest_rows)
            ]
            of_results = _CONTENTS.c.sha256.in_([reference.sha256 for *_, reference in named_rows])
            begins = {row[0]: row[1] for row in connection.execute(heads.where(of_results))}
            calls = _calls(connection, {row.id for _, row, _ in named_rows})
        return tuple(
            EarlierResult(
                id=id,
                turn_id=row.id,
                request=row.request,
                standalone=row.standalone or "",
                tool=row.tool,
                arguments=_arguments(calls.get(row.id, ()), row.tool, row.seq),
                begins=begins[reference.sha256].decode(errors="ignore"),
                reference=reference,
            )
            for id, row, reference in named_rows
        )

    def calls(self, owner: str, tool: str, before: datetime) -> tuple[EarlierCall, ...]:
        """The owner's newest calls of a tool that ended before that time and whose values are kept;
        the newest first. Those of deleted conversations are left out.
        """
        turn, conversation, event = schema.turns.c, schema.conversations.c, schema.events.c
        of_event = event.conversation_id == _RESULTS.c.conversation_id
        query = (
            sa.select(_RESULTS, _CONTENTS.c.content, turn.request, event.at)
            .join(_CONTENTS, _CONTENTS.c.sha256 == _RESULTS.c.sha256)
            .join(schema.turns, turn.id == _RESULTS.c.turn_id)
            .join(schema.conversations, conversation.id == _RESULTS.c.conversation_id)
            .join(schema.events, of_event & (event.seq == _RESULTS.c.seq))
            .where(conversation.owner == owner, conversation.deleted_at.is_(None))
            .where(_RESULTS.c.tool == tool, event.at < before)
            .order_by(turn.started_at.desc(), _RESULTS.c.seq.desc())
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query.limit(RECOMPUTED)).all()
            calls = _calls(connection, {row.turn_id for row in rows})
        return tuple(
            EarlierCall(
                conversation_id=row.conversation_id,
                turn_id=row.turn_id,
                request=row.request,
                seq=row.seq,
                arguments=_arguments(calls.get(row.turn_id, ()), tool, row.seq),
                content=row.content.decode(),
                at=utc(row.at),
            )
            for row in rows
        )

    def callers(self, tool: str) -> tuple[str, ...]:
        """The owners of conversations that keep values of a tool."""
        owners = sa.select(schema.conversations.c.owner).distinct().join(_RESULTS)
        return tuple(fetch_column(self._engine, owners.where(_RESULTS.c.tool == tool)))

    def result(self, conversation_id: str, sha256: str) -> Result:
        """A value of a conversation, whole.

        Raises:
            ResourceNotFound: the conversation has none with this hash.
        """
        condition = (_RESULTS.c.conversation_id == storable(conversation_id)) & (
            _RESULTS.c.sha256 == storable(sha256)
        )
        return self._result(condition, f"the conversation has no result {shown_name(sha256)}")

    def result_of_turn(self, owner: str, turn_id: str = "") -> Result:
        """The last value of a turn, or of the owner's newest turn that has one.

        Raises:
            ResourceNotFound: there is none, or the owner has no such turn.
        """
        of_owner = schema.conversations.c.owner == owner
        condition = of_owner & (_RESULTS.c.turn_id == storable(turn_id)) if turn_id else of_owner
        return self._result(condition, f"no value is kept of the turn {turn_id[:40]!r}")

    def _result(self, condition: sa.ColumnElement[bool], missing: str) -> Result:
        query = (
            sa.select(_RESULTS.c.reference, _CONTENTS.c.content)
            .join(_CONTENTS, _CONTENTS.c.sha256 == _RESULTS.c.sha256)
            .join(schema.turns, schema.turns.c.id == _RESULTS.c.turn_id)
            .join(schema.conversations, schema.conversations.c.id == _RESULTS.c.conversation_id)
            .where(condition)
            .order_by(schema.turns.c.started_at.desc(), _RESULTS.c.seq.desc())
        )
        for row in fetch(self._engine, query.limit(1)):
            reference = ResultReference.model_validate_json(row.reference)
            return Result(reference=reference, content=row.content.decode())
        raise ResourceNotFound(missing, "ask for it again")


def _references(texts: Sequence[str]) -> list[FileReference]:
    references = []
    for text in texts:
        try:
            references.append(FileReference.model_validate_json(text))
        except ValidationError:  # written under other rules for names
            continue
    return references
