"""Writers at the same time, each with a connection of its own as in a process of its own: nothing is
refused, lost or written twice.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from selfeng.core.errors import DatabaseUnavailable
from selfeng.core.events import AnswerToken, TurnStarted
from selfeng.core.files import File
from selfeng.core.prompt import ChatMessage
from selfeng.lessons.book import Finding, LessonBook
from selfeng.lessons.transcript import LessonOutcome
from selfeng.store import database as module
from selfeng.store import schema
from selfeng.store.database import attach, open_database, reading, writing
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.threads import Threads
from selfeng.store.turn_queue import QueueLimits, TurnQueue
from tests.databases import address
from tests.embedding.hashing import HashingEmbedder

WRITERS, TIMES = 8, 10


@pytest.fixture
def side_by_side(database: sa.Engine) -> Callable[..., list[object]]:
    """Calls a function with an engine of its own and its number, in as many threads as there are
    writers.
    """

    def run(work: Callable[[sa.Engine, int], object]) -> list[object]:
        def alone(number: int) -> object:
            engine = attach(address(database))
            try:
                return work(engine, number)
            finally:
                engine.dispose()

        with ThreadPoolExecutor(WRITERS) as pool:
            return list(pool.map(alone, range(WRITERS)))

    return run


def test_exchanges_of_one_thread_of_agents_are_all_kept(database, side_by_side) -> None:
    def talk(engine: sa.Engine, writer: int) -> None:
        threads = Threads(engine)
        for turn in range(TIMES):
            thread = threads.open("c", "user", "coder")
            said = ChatMessage(role="user", content=f"{writer} {turn}")
            threads.append(thread, (said, ChatMessage(role="assistant", content="yes")))

    side_by_side(talk)
    kept = [m.content for m in Threads(database).open("c", "user", "coder").messages]
    assert len(kept) == 2 * WRITERS * TIMES
    assert set(kept[::2]) == {f"{w} {t}" for w in range(WRITERS) for t in range(TIMES)}


def test_a_turn_teaches_once_however_many_look_at_it(database, side_by_side) -> None:
    journal = Journal(database)
    conversation = journal.create_conversation("me", "c")
    turns = [journal.begin_turn(conversation, f"request {n}") for n in range(TIMES)]
    finding = Finding(agent="implement", trigger="Units", advice="Ask.", same_as=None)

    def learn(engine: sa.Engine, writer: int) -> int:
        book = LessonBook(engine, HashingEmbedder())
        return sum(len(book.close(turn, turn, [], [finding])) for turn in turns)

    assert sum(side_by_side(learn)) == TIMES
    (lesson,) = LessonBook(database, HashingEmbedder()).lessons()
    assert set(lesson.evidence) == set(turns)

    def show(engine: sa.Engine, writer: int) -> None:
        book = LessonBook(engine, HashingEmbedder())
        for n in range(TIMES):
            turn = Journal(engine).begin_turn(conversation, f"{writer} {n}")
            book.close(turn, turn, [LessonOutcome(lesson_id=lesson.id, helped=True)], [])

    side_by_side(show)
    (lesson,) = LessonBook(database, HashingEmbedder()).lessons()
    assert (lesson.uses, lesson.helped) == (WRITERS * TIMES,) * 2


def test_events_of_a_conversation_are_numbered_without_a_gap(database, side_by_side) -> None:
    conversation = Journal(database).create_conversation("me", "c")

    def speak(engine: sa.Engine, writer: int) -> None:
        journal, at = Journal(engine), datetime.now(UTC)
        turn = journal.begin_turn(conversation, f"request {writer}")
        file = File(name=f"{writer}.txt", content=b"the same for all")
        began = TurnStarted(request="r", files=(file.reference(),), contents=(file,))
        journal.append([JournalEntry(conversation, turn, at, began)])
        for n in range(TIMES):
            said = AnswerToken(text=f"{writer} {n}")
            journal.append([JournalEntry(conversation, turn, at, said)])

    side_by_side(speak)
    records = Journal(database).history(conversation)
    assert [r.seq for r in records] == list(range(1, WRITERS * (TIMES + 1) + 1))
    said = [r.event.text for r in records if isinstance(r.event, AnswerToken)]
    assert sorted(said) == sorted(f"{w} {t}" for w in range(WRITERS) for t in range(TIMES))


@pytest.mark.postgres
def test_a_process_that_stops_in_the_middle_of_a_change_holds_up_no_other(
    postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE", "1s")
    database = open_database(postgres.new())
    stopped = attach(address(database))

    def change() -> None:
        with writing(stopped) as connection:
            connection.execute(schema.conversations.delete())
            with writing(database) as other:
                assert other.scalar(sa.text("SELECT 1")) == 1
            connection.execute(schema.conversations.delete())

    with pytest.raises(DatabaseUnavailable):
        change()
    stopped.dispose()
    database.dispose()


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("claimed", "change"),
    [
        (False, lambda queue: queue.claim(2, others=True)),
        (True, TurnQueue.fence),
        (True, TurnQueue.hand_over),
    ],
    ids=["claim", "fence", "hand over"],
)
def test_the_queue_and_events_lock_turns_in_the_same_order(postgres, claimed, change) -> None:
    database = open_database(postgres.new())
    journal, started = Journal(database), TurnStarted(request="r")
    conversations = [journal.create_conversation("me", name) for name in ("one", "two")]
    turns = [(c, journal.begin_turn(c, "r", "", started, "{}", waits=True)) for c in conversations]
    first, last = sorted(turn_id for _, turn_id in turns)
    queue = TurnQueue(database, lambda: QueueLimits(2, 2, 2), server="other")
    if claimed:
        queue.claim(2, others=True)
    entries = [
        JournalEntry(*turn, datetime.now(UTC), AnswerToken(text="a"), lease=0) for turn in turns
    ]

    def waiting(count: int) -> None:
        locked = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        while True:
            with reading(database) as connection:
                if connection.scalar(locked) == count:
                    return

    with ThreadPoolExecutor() as pool:
        for queued, turn in enumerate((last, first)):  # their order in queue, table and index
            mine = schema.turns.update().where(schema.turns.c.id == turn)
            for state in ("finished", "running"):
                with writing(database, exclusive=False) as connection:
                    connection.execute(mine.values(queued=queued, state=state))
        with writing(database, exclusive=False) as connection:
            mine = schema.turns.update().where(schema.turns.c.id == last)
            connection.execute(mine.values(request="s"))
            changed = pool.submit(change, queue)
            waiting(1)
            stored = pool.submit(journal.append, entries)
            waiting(2)
        taken = [turn.turn_id for turn in changed.result() or ()]
        assert taken == ([] if claimed else [last, first])
        assert len(stored.result()) == 0  # of a process that has lost them
    database.dispose()


def test_a_named_conversation_is_begun_once(database, side_by_side) -> None:
    ids = side_by_side(lambda engine, _: Journal(engine).named_conversation("me", "shared"))
    assert len(set(ids)) == 1
    assert len(Journal(database).conversations("me")) == 1
