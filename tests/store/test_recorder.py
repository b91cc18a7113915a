"""The recorder: batches, order, and a database that fails."""

import asyncio
from collections.abc import Sequence

import pytest
import sqlalchemy as sa

from selfeng.core.events import (
    AnswerToken,
    Record,
    Searching,
    SynthesisStep,
    TurnFinished,
    TurnStarted,
)
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.recorder import Recorder


class FailingJournal:
    """A journal that refuses the first `failures` batches."""

    def __init__(self, journal: Journal, failures: int) -> None:
        self.journal = journal
        self.failures = failures

    def append(self, entries: Sequence[JournalEntry]) -> list[Record]:
        if self.failures:
            self.failures -= 1
            raise OSError("disk full")
        return self.journal.append(entries)


@pytest.fixture
async def journal(database: sa.Engine) -> Journal:
    return Journal(database)


def _tokens(text: str) -> list[AnswerToken]:
    return [AnswerToken(text=letter) for letter in text]


async def test_pieces_of_one_stream_become_one_record(journal: Journal) -> None:
    conversation, recorder, seen = (
        journal.create_conversation("o", "t"),
        Recorder(journal),
        list[Record](),
    )
    recorder.subscribe(seen.extend)
    for a, b in zip(_tokens("hello"), _tokens("world"), strict=True):
        recorder.emit(conversation, "a", a)
        recorder.emit(conversation, "b", b)
    recorder.emit(conversation, "a", TurnFinished(answer="hello"))
    recorder.emit(conversation, "a", AnswerToken(text="late"))
    await recorder.flush()
    assert [(r.seq, r.turn_id, r.event) for r in seen] == [
        (1, "a", AnswerToken(text="hello")),
        (2, "b", AnswerToken(text="world")),
        (3, "a", TurnFinished(answer="hello")),
        (4, "a", AnswerToken(text="late")),
    ]
    assert journal.history(conversation) == tuple(seen)
    await recorder.aclose()


async def test_events_wait_for_the_window_but_for_the_begin_and_the_end_of_a_turn(
    journal: Journal,
) -> None:
    conversation, recorder = journal.create_conversation("o", "t"), Recorder(journal, window=3600)
    arrived: asyncio.Queue[list[Record]] = asyncio.Queue()
    recorder.subscribe(arrived.put_nowait)
    recorder.emit(conversation, "a", Searching())
    assert [r.event for r in await arrived.get()] == [Searching()]
    recorder.emit(conversation, "a", AnswerToken(text="a"))
    recorder.emit(conversation, "a", SynthesisStep(step="test", state="streaming", text="x"))
    recorder.emit(conversation, "a", SynthesisStep(step="test", state="streaming", text="y"))
    with pytest.raises(asyncio.QueueEmpty):
        arrived.get_nowait()
    recorder.emit(conversation, "b", Searching())
    started = TurnStarted(request="r")
    recorder.emit(conversation, "b", started)
    assert [(r.seq, r.event) for r in await arrived.get()] == [
        (2, AnswerToken(text="a")),
        (3, SynthesisStep(step="test", state="streaming", text="xy")),
        (4, Searching()),
        (5, started),
    ]
    await recorder.aclose()


async def test_a_lone_piece_arrives_without_anything_after_it(journal: Journal) -> None:
    conversation, recorder = journal.create_conversation("o", "t"), Recorder(journal)
    arrived: asyncio.Queue[list[Record]] = asyncio.Queue()
    recorder.subscribe(arrived.put_nowait)
    for text in "ab":
        recorder.emit(conversation, "a", AnswerToken(text=text))
        assert [r.event for r in await arrived.get()] == [AnswerToken(text=text)]
    await recorder.aclose()


async def test_a_subscriber_that_fails_or_leaves_takes_nothing_from_the_others(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    conversation, recorder = journal.create_conversation("o", "t"), Recorder(journal)
    left, stayed = list[Record](), list[Record]()
    recorder.subscribe(lambda records: 1 / 0)  # type: ignore[arg-type,return-value]
    leave = recorder.subscribe(left.extend)
    recorder.subscribe(stayed.extend)
    recorder.emit(conversation, "a", Searching())
    await recorder.flush()
    leave()
    recorder.emit(conversation, "a", Searching())
    await recorder.flush()
    assert ([r.seq for r in left], [r.seq for r in stayed]) == ([1], [1, 2])
    assert caplog.text.count("a subscriber failed") == 2
    await recorder.aclose()


async def test_closing_keeps_what_is_left_and_says_what_comes_too_late(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    conversation, recorder = journal.create_conversation("o", "t"), Recorder(journal, window=3600)
    recorder.emit(conversation, "a", AnswerToken(text="x"))
    await recorder.aclose()
    await recorder.aclose()
    assert [r.event for r in journal.history(conversation)] == [AnswerToken(text="x")]
    recorder.emit(conversation, "a", Searching())
    await recorder.flush()
    assert len(journal.history(conversation)) == 1
    assert "searching of turn a came after the journal was closed" in caplog.text


async def test_a_database_that_recovers_soon_is_not_noticed(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    conversation = journal.create_conversation("o", "t")
    recorder, seen = Recorder(FailingJournal(journal, failures=2), pauses=(0, 0)), list[Record]()
    recorder.subscribe(seen.extend)
    recorder.emit(conversation, "a", Searching())
    await recorder.flush()
    assert journal.history(conversation) == tuple(seen)
    assert [r.seq for r in seen] == [1]
    assert caplog.text.count("the journal could not store 1 events") == 2
    await recorder.aclose()


async def test_a_broken_database_still_shows_the_turn_and_keeps_it_later(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    turn = journal.begin_turn(conversation, "r")
    recorder, seen = Recorder(FailingJournal(journal, failures=3), pauses=(0,)), list[Record]()
    recorder.subscribe(seen.extend)
    for event in (Searching(), TurnFinished(answer="45"), AnswerToken(text="z")):
        recorder.emit(conversation, turn, event)
        await recorder.flush()
    assert [(r.seq, r.event) for r in seen[:2]] == [
        (0, Searching()),
        (0, TurnFinished(answer="45")),
    ]
    assert [(r.seq, r.event) for r in seen[2:]] == [
        (1, Searching()),
        (2, TurnFinished(answer="45")),
        (3, AnswerToken(text="z")),
    ]
    assert journal.history(conversation) == tuple(seen[2:])
    assert [m.content for m in journal.messages(conversation)] == ["r", "45"]
    recorder.emit(conversation, turn, Searching())
    await recorder.aclose()
    assert [(r.seq, r.event) for r in journal.history(conversation, after_seq=3)] == [
        (4, Searching())
    ], "what was kept is not kept again"


async def test_what_could_never_be_kept_is_said_at_the_end(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(FailingJournal(journal, failures=9), pauses=(3600,))
    recorder.emit("c", "t", Searching())
    await recorder.aclose()
    assert "1 events could not be stored in the journal" in caplog.text


async def test_a_database_that_recovers_in_silence_is_found_out(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    recorder = Recorder(FailingJournal(journal, failures=2), pauses=(), retry=0.001)
    arrived: asyncio.Queue[list[Record]] = asyncio.Queue()
    recorder.subscribe(arrived.put_nowait)
    recorder.emit(conversation, "a", Searching())
    assert [r.seq for r in await arrived.get()] == [0]
    assert [r.seq for r in await arrived.get()] == [1]
    await recorder.aclose()


async def test_closing_tries_once_more(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    recorder = Recorder(FailingJournal(journal, failures=1), pauses=(), retry=3600)
    recorder.emit(conversation, "a", Searching())
    await recorder.flush()
    assert journal.history(conversation) == ()
    await recorder.aclose()
    assert [r.seq for r in journal.history(conversation)] == [1]
