"""Files in the journal: kept with the event that tells of them, once each, and found again by their
conversation.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.core.errors import RequestError
from selfeng.core.events import (
    EVENT,
    AnswerCorrected,
    Event,
    Executing,
    ExecutionFinished,
    FilesMade,
    TurnFinished,
    TurnStarted,
)
from selfeng.core.files import LARGE, MB, File, LargeFiles
from selfeng.core.prompt import AgentThread, ChatMessage
from selfeng.core.verdict import Returned
from selfeng.store import schema
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.database import open_database, reading, writing
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.threads import Threads
from tests.doubles import kept
from web.exports import as_markdown

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def engine(database: sa.Engine) -> sa.Engine:
    return database


@pytest.fixture
def files(engine: sa.Engine, tmp_path: Path) -> ConversationFiles:
    return ConversationFiles(engine, LargeFiles(tmp_path / "files"))


def file(name: str, content: bytes = b"content") -> File:
    return File(name=name, content=content)


def started(*files: File, request: str = "go") -> Event:
    return TurnStarted(request=request, files=tuple(f.reference() for f in files), contents=files)


def made(*files: File) -> Event:
    return FilesMade(tool="t", files=tuple(f.reference() for f in files), contents=files)


def keep(engine: sa.Engine, *events: Event, owner: str = "me") -> str:
    """A conversation of one turn with these events."""
    journal = Journal(engine)
    conversation = journal.create_conversation(owner, "title")
    turn = journal.begin_turn(conversation, "go")
    journal.append([JournalEntry(conversation, turn, AT, event) for event in events])
    return conversation


def test_files_of_requests_and_of_tools_are_kept_and_read_again(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    large = file("large.bin", bytes(range(256)) * 10_000)
    conversation = keep(engine, started(large, file("a.csv", b"1")), made(file("b.png", b"2")))
    assert [r.name for r in files.newest(conversation)] == ["b.png", "large.bin", "a.csv"]
    again = files.read(conversation, large.reference().sha256, "large.bin")
    assert (again.reference(), b"".join(again.pieces())) == (large.reference(), large.content)
    assert [r.event for r in Journal(engine).history(conversation)] == [
        started(large, file("a.csv", b"1")).model_copy(update={"contents": ()}),
        made(file("b.png", b"2")).model_copy(update={"contents": ()}),
    ]


def test_the_newest_file_of_a_name_counts_and_older_ones_can_still_be_read(
    engine: sa.Engine,
    files: ConversationFiles,
) -> None:
    conversation = keep(
        engine,
        started(file("a", b"1")),
        made(file("a", b"2")),
        made(file("a", b"1"), file("b", b"1")),
    )
    assert files.newest(conversation) == (file("a", b"1").reference(), file("b", b"1").reference())
    assert files.read(conversation, file("a", b"2").reference().sha256, "a") == file("a", b"2")


def test_a_large_content_is_in_pieces_and_goes_with_its_conversation(
    engine: sa.Engine, files: ConversationFiles, tmp_path: Path
) -> None:
    large = files.take_in(file("a", bytes(3 * MB + 5)))
    assert large.large
    assert not large.content
    assert large.large.path.stat().st_size == large.size == 3 * MB + 5
    conversation = keep(engine, started(large))
    large.large.path.unlink()
    again = files.read(conversation, large.large.sha256, "a")
    assert (again, again.large) == (large, large.large)
    assert again.in_memory().content == bytes(3 * MB + 5)
    with reading(engine) as connection:
        pieces = connection.scalars(sa.select(sa.func.length(schema.content_pieces.c.content)))
        assert max(pieces.all()) < LARGE
    Journal(engine).remove_conversations([conversation])
    with reading(engine) as connection:
        assert not connection.scalars(sa.select(schema.content_pieces.c.number)).all()


def test_a_result_is_whole_even_if_a_file_has_its_content(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    text = json.dumps(["a" * 100] * 20_000, separators=(",", ":"))
    execution = kept(text)
    assert execution.result
    same = files.take_in(file("same.json", text.encode()))
    conversation = keep(engine, started(same), ExecutionFinished(tool="t", execution=execution))
    sha256 = execution.result.reference.sha256
    assert files.result(conversation, sha256).content == text
    assert b"".join(files.read(conversation, sha256, "same.json").pieces()) == text.encode()


def test_contents_are_kept_once(engine: sa.Engine) -> None:
    for _ in range(3):
        keep(engine, started(file("a"), file("b")), made(file("a")))
    with reading(engine) as connection:
        assert connection.execute(sa.select(schema.contents)).all() == [
            (file("a").reference().sha256, b"content")
        ]
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.files)) == 9


def test_a_conversation_has_only_its_own_files(engine: sa.Engine, files: ConversationFiles) -> None:
    keep(engine, started(file("a")))
    other = keep(engine, started())
    assert files.newest(other) == ()
    for sha256 in (file("a").reference().sha256, "", "\0", "0" * 64):
        with pytest.raises(RequestError):
            files.read(other, sha256, "a")


def test_a_request_with_halves_of_pairs_keeps_its_files(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    conversation = keep(engine, started(file("a"), request="\ud800"))
    assert files.read(conversation, file("a").reference().sha256, "a") == file("a")


def test_events_without_a_conversation_keep_nothing(engine: sa.Engine) -> None:
    Journal(engine).append([JournalEntry("nowhere", "turn", AT, made(file("a")))])
    with reading(engine) as connection:
        assert connection.execute(sa.select(schema.contents)).all() == []


def test_a_reference_under_other_rules_is_left_out(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    conversation = keep(engine, started(file("a"), file("b")))
    with writing(engine) as connection:
        bad = schema.files.c.position == 0
        connection.execute(
            schema.files.update().where(bad).values(reference='{"name": "../a", "size": 1}')
        )
    assert [r.name for r in files.newest(conversation)] == ["b"]


def test_a_content_is_read_under_the_names_that_it_has(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    conversation = keep(engine, started(file("a"), file("b")), made(file("c", b"other")))
    for name in ("a", "b"):
        assert files.read(conversation, file("a").reference().sha256, name) == file(name)
    for name in ("c", "", "\0", "../a"):
        with pytest.raises(RequestError):
            files.read(conversation, file("a").reference().sha256, name)


def test_a_conversation_that_is_removed_takes_its_threads_and_the_contents_that_no_other_has(
    engine: sa.Engine,
) -> None:
    first = keep(engine, started(file("a.csv", b"both"), file("b.csv", b"mine")))
    second = keep(engine, started(file("c.csv", b"both")))
    for conversation in (first, second):
        thread = AgentThread(
            id=f"of {conversation[:8]}", conversation_id=conversation, sender="user", agent="coder"
        )
        Threads(engine).append(thread, (ChatMessage(role="user", content="hello"),))
    Journal(engine).remove_conversations([first])
    assert [c.id for c in Journal(engine).conversations("me")] == [second]
    with reading(engine) as connection:
        assert connection.scalars(sa.select(schema.contents.c.content)).all() == [b"both"]
        assert connection.scalars(sa.select(schema.turns.c.conversation_id)).all() == [second]
        assert connection.scalars(sa.select(schema.agent_messages.c.agent_id)).all() == [
            f"of {second[:8]}"
        ]


def finished(data: str, tool: str = "t") -> Event:
    return ExecutionFinished(tool=tool, execution=kept(data))


def test_values_of_tools_are_kept_whole_and_read_again(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    rows = json.dumps([{"n": n, "text": "é" * 20} for n in range(36_000)])
    conversation = keep(engine, started(), finished(rows, "list_rows"), finished("1.5"))
    table, number = files.results(conversation)
    assert (number.begins, number.reference.referable) == ("1.5", False)
    assert (table.id, table.request, table.tool) == ("r1", "go", "list_rows")
    assert (table.reference.kind, table.reference.count) == ("table", 36_000)
    assert table.begins.startswith('[{"n":0,"text":"éé')
    whole = files.result(conversation, table.reference.sha256)
    assert json.loads(whole.content) == json.loads(rows)
    (_, event, _) = (r.event for r in Journal(engine).history(conversation))
    assert isinstance(event, ExecutionFinished)
    assert isinstance(event.execution, Returned)
    assert (event.execution.value, event.execution.data) == (table.reference, None)


def test_the_newest_values_that_are_worth_it_keep_their_numbers(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    rows = (f"[{n}]" for n in range(7))
    conversation = keep(engine, finished("1"), *map(finished, rows), finished('"short"'))
    found = files.results(conversation)
    assert [(r.id, r.begins) for r in found] == [
        *((f"r{n + 2}", f"[{n}]") for n in range(2, 7)),
        ("r9", '"short"'),
    ]


def test_the_last_value_of_a_turn_belongs_to_its_owner(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    conversation = keep(engine, finished("[1]"), finished("[1, 2]"))
    record, *_ = Journal(engine).history(conversation)
    assert files.result_of_turn("me").content == "[1,2]"
    assert files.result_of_turn("me", record.turn_id).content == "[1,2]"
    for owner, turn in (("other", ""), ("other", record.turn_id), ("me", "unknown")):
        with pytest.raises(RequestError, match="no value is kept"):
            files.result_of_turn(owner, turn)
    with pytest.raises(RequestError, match="has no result"):
        files.result(conversation, "0" * 64)


def test_a_value_stays_as_long_as_a_conversation_has_it(
    engine: sa.Engine, files: ConversationFiles
) -> None:
    both = [keep(engine, finished("[1]")) for _ in range(2)]
    journal = Journal(engine)
    (kept_there,) = files.results(both[1])
    journal.remove_conversations([both[0]])
    assert files.result(both[1], kept_there.reference.sha256).content == "[1]"
    journal.remove_conversations([both[1]])
    with reading(engine) as connection:
        assert connection.scalars(sa.select(schema.contents.c.sha256)).all() == []


def test_executions_of_older_journals_are_read() -> None:
    former = '{"type": "execution_finished", "tool": "t", "execution": {"outcome": "returned", "type_name": "int", "text": "5", "data": "5"}}'
    event = EVENT.validate_json(former)
    assert isinstance(event, ExecutionFinished)
    assert isinstance(event.execution, Returned)
    assert (event.execution.text, event.execution.value, event.execution.result) == (
        "5",
        None,
        None,
    )


def test_nothing_of_a_removed_conversation_stays_in_the_file(tmp_path: Path) -> None:
    path, words = tmp_path / "agent.db", "what only one person knows"
    engine = open_database(f"sqlite:///{path}")
    journal = Journal(engine)
    conversation = journal.create_conversation("me", words)
    journal.begin_turn(conversation, words, started=TurnStarted(request=words))
    engine.dispose()
    assert words.encode() in path.read_bytes()
    journal.remove_conversations([conversation])
    engine.dispose()
    assert words.encode() not in path.read_bytes()


def test_a_value_comes_with_its_turn_and_call_and_a_corrected_answer_is_marked(
    engine: sa.Engine,
    files: ConversationFiles,
) -> None:
    journal, conversation = Journal(engine), Journal(engine).create_conversation("me", "title")
    first, second = (journal.begin_turn(conversation, text) for text in ("sum it", "no, 7"))
    events = (
        (first, Executing(tool="add", arguments='{"a": 2}')),
        (first, ExecutionFinished(tool="add", execution=kept("5"), seconds=0.1)),
        (first, TurnFinished(answer="It is 5.", tool="add")),
        (second, AnswerCorrected(tool="add", version=2, turn_id=first)),
        (second, TurnFinished(answer="It is 7.", tool="add")),
    )
    journal.append([JournalEntry(conversation, turn, AT, event) for turn, event in events])
    (value,) = files.results(conversation)
    assert (value.turn_id, value.request, value.arguments) == (first, "sum it", '{"a": 2}')
    answers = [m.content for m in journal.messages(conversation) if m.role == "assistant"]
    assert answers == ["(This answer was wrong; a later one corrects it.)\n\nIt is 5.", "It is 7."]
    records = (
        record.model_copy(update={"event": TurnStarted(request="x")}) if n == 0 else record
        for n, record in enumerate(journal.history(conversation))
    )
    assert "*This answer was wrong; a later one corrects it.*\n\nIt is 5." in as_markdown(
        "title", list(records)
    )
