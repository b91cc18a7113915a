"""The journal: who may read what, how events are numbered, and what a model gets to see of the
past.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
import sqlalchemy as sa

from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.events import (
    AnswerCorrected,
    AnswerToken,
    Event,
    ExecutionFinished,
    Outcome,
    QuestionsAsked,
    Record,
    Searching,
    SynthesisStep,
    ToolFound,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.files import File, LargeFiles
from selfeng.core.process import this_process
from selfeng.core.prompt import ChatMessage
from selfeng.core.question import Question
from selfeng.core.status import Asked
from selfeng.store import schema
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.database import reading, writing
from selfeng.store.journal import Journal, JournalEntry, NewConversation
from selfeng.store.processes import Processes
from selfeng.store.turn_queue import ClaimedTurn, QueueLimits, TurnQueue
from tests.doubles import kept

ROOT = Path(__file__).parents[2]
AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


@pytest.fixture
def engine(database: sa.Engine) -> sa.Engine:
    return database


@pytest.fixture
def journal(engine: sa.Engine) -> Journal:
    return Journal(engine)


def _states(engine: sa.Engine) -> dict[str, str]:
    with reading(engine) as connection:
        return {row.id: row.state for row in connection.execute(sa.select(schema.turns))}


def _finish(journal: Journal, conversation: str, request: str, answer: str) -> None:
    journal.append(
        [
            JournalEntry(
                conversation,
                journal.begin_turn(conversation, request),
                AT,
                TurnFinished(answer=answer),
            )
        ]
    )


def test_conversations_belong_to_one_owner(journal: Journal) -> None:
    first = journal.create_conversation("ann", "first")
    second = journal.create_conversation("ann", "second")
    journal.create_conversation("bob", "third")
    assert [(c.id, c.title) for c in journal.conversations("ann")] == [
        (second, "second"),
        (first, "first"),
    ]
    assert journal.conversations("ann")[0].created_at.tzinfo is UTC
    assert journal.conversations("nobody") == ()
    assert journal.conversation("ann", first).title == "first"


def test_a_conversation_begins_with_its_first_turn_or_not_at_all(journal: Journal) -> None:
    new = NewConversation("me", "Hello")
    started = TurnStarted(request="Hello!")
    journal.begin_turn("c1", "Hello!", "t", started, new=new)
    with pytest.raises(sa.exc.IntegrityError):
        journal.begin_turn("c2", "Hello!", "t", started, new=new)
    assert [(c.id, c.title) for c in journal.conversations("me")] == [("c1", "Hello")]
    assert [(r.seq, r.event) for r in journal.history("c1")] == [(1, started)]


def test_a_turn_is_found_by_the_requests_on_its_path(journal: Journal) -> None:
    older, newer, deleted = (journal.create_conversation("alice", "one") for _ in range(3))
    _, first, _ = (journal.begin_turn(c, "one") for c in (older, newer, deleted))
    second = journal.begin_turn(newer, "two")
    sibling = journal.begin_turn(newer, "three", after=first)
    journal.change_conversation("alice", deleted, ConversationChange(deleted=True))
    for requests, turn_id in (
        (["one"], first),
        (["one", "two"], second),
        (["one", "three"], sibling),
    ):
        asked = Asked(conversation_id=newer, turn_id=turn_id)
        assert journal.turn_after("alice", requests) == asked
    for owner, requests in (("alice", ["two"]), ("alice", ["two", "three"]), ("bob", ["one"])):
        assert journal.turn_after(owner, requests) is None


def test_a_turn_knows_only_the_turns_that_it_follows(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    asked = QuestionsAsked(questions=(Question(id="unit", question="Which unit?"),))

    def turn(request: str, after: str | None, *events: Event) -> str:
        turn_id = journal.begin_turn(conversation, request, after=after)
        journal.append(
            [
                JournalEntry(conversation, turn_id, AT, event)
                for event in (*events, TurnFinished(answer=request.upper()))
            ]
        )
        return turn_id

    first = turn("a", None)
    second = turn("b", None)
    sibling = turn("c", first, asked)
    beginning = turn("d", "")
    seen = {
        after: [m.content for m in journal.messages(conversation, after=after)]
        for after in (None, first, second, sibling, beginning, "")
    }
    assert seen == {
        None: ["d", "D"],
        first: ["a", "A"],
        second: ["a", "A", "b", "B"],
        sibling: ["a", "A", "c", "C"],
        beginning: ["d", "D"],
        "": [],
    }
    assert journal.rounds(conversation, sibling) == (asked,)
    assert journal.rounds(conversation, second) == journal.rounds(conversation, "") == ()
    assert [journal.last_request(conversation, t) for t in (second, None, "")] == ["b", "d", ""]
    assert [journal.parent(t) for t in (second, sibling, beginning)] == [first, first, ""]
    assert journal.newest_from(first) == sibling
    with pytest.raises(ResourceNotFound, match="has no turn 'elsewhere'"):
        journal.begin_turn(conversation, "e", after="elsewhere")


def test_a_fork_has_copies_of_one_path(engine: sa.Engine, journal: Journal, tmp_path: Path) -> None:
    conversation = journal.create_conversation("me", "Sums")
    table = File(name="a.csv", content=b"1,2")
    value = kept("[1, 2]")
    started = TurnStarted(request="a", files=(table.reference(),), contents=(table,))
    first = journal.begin_turn(conversation, "a", started=started)
    executed = ExecutionFinished(tool="add", execution=value)
    journal.append(
        [
            JournalEntry(conversation, first, AT, event)
            for event in (executed, TurnFinished(answer="A"))
        ]
    )
    wrong = AnswerCorrected(turn_id=first, tool="add", version=2)
    second = journal.begin_turn(conversation, "b", started=TurnStarted(request="b", after=first))
    journal.append([JournalEntry(conversation, second, AT, wrong)])
    with pytest.raises(RequestError, match="the turn runs"):
        journal.fork("me", conversation, second)
    journal.append([JournalEntry(conversation, second, AT, TurnFinished(answer="B"))])
    _finish(journal, conversation, "c", "C")
    for owner, turn_id in (("you", second), ("me", "elsewhere")):
        with pytest.raises(ResourceNotFound):
            journal.fork(owner, conversation, turn_id)
    copy = journal.fork("me", conversation, second)
    records = journal.history(copy)
    (new_first, new_second) = dict.fromkeys(r.turn_id for r in records)
    assert journal.conversation("me", copy).title == "Sums"
    assert [r.seq for r in records] == list(range(1, len(records) + 1))
    assert [r.event for r in records if isinstance(r.event, AnswerCorrected | TurnStarted)] == [
        started.model_copy(update={"contents": ()}),
        TurnStarted(request="b", after=new_first),
        wrong.model_copy(update={"turn_id": new_first}),
    ]
    assert {new_first, new_second}.isdisjoint({first, second})
    assert [m.content for m in journal.messages(copy)][::2] == ["a", "b"]
    files = ConversationFiles(engine, LargeFiles(tmp_path))
    assert files.read(copy, table.reference().sha256, "a.csv") == table
    assert [(r.turn_id, r.tool) for r in files.results(copy)] == [(new_first, "add")]
    assert len(journal.history(conversation)) > len(records)


def test_projects_are_conversations_of_another_kind(journal: Journal) -> None:
    chat, project = (
        journal.create_conversation("ann", "chat"),
        journal.create_conversation("ann", "song", "project"),
    )
    assert [(c.id, c.kind) for c in journal.conversations("ann")] == [(chat, "chat")]
    assert [(c.id, c.kind) for c in journal.conversations("ann", kind="project")] == [
        (project, "project")
    ]
    assert journal.conversation("ann", project).kind == "project"


def test_a_turn_is_read_by_its_owner_only(journal: Journal) -> None:
    turn = journal.begin_turn(conversation := journal.create_conversation("ann", "first"), "r")
    journal.append([JournalEntry(conversation, turn, AT, Searching())])
    assert [r.event for r in journal.turn("ann", turn)] == [Searching()]
    for owner, name in (("bob", turn), ("ann", "unknown")):
        with pytest.raises(ResourceNotFound, match="unknown turn"):
            journal.turn(owner, name)


@pytest.mark.parametrize("conversation", ["the other's", "unknown", "\ud800", "x" * 100_000])
def test_a_foreign_conversation_is_refused_like_an_unknown_one(
    journal: Journal, conversation: str
) -> None:
    if conversation == "the other's":
        conversation = journal.create_conversation("ann", "first")
    with pytest.raises(ResourceNotFound, match="unknown conversation") as caught:
        journal.conversation("bob", conversation)
    assert caught.value.remedy == "begin a new one"


def test_events_are_numbered_within_their_conversation(journal: Journal) -> None:
    one, two = journal.create_conversation("o", "1"), journal.create_conversation("o", "2")
    entries = [
        JournalEntry(c, "t", AT, AnswerToken(text=text))
        for c, text in ((one, "a"), (two, "b"), (one, "c"))
    ]
    assert [(r.conversation_id, r.seq) for r in journal.append(entries)] == [
        (one, 1),
        (two, 1),
        (one, 2),
    ]
    (last,) = journal.append([JournalEntry(one, "t", AT, Searching())])
    assert last == Record(conversation_id=one, seq=3, turn_id="t", at=AT, event=Searching())
    assert [(r.seq, r.event) for r in journal.history(one)] == [
        (1, AnswerToken(text="a")),
        (2, AnswerToken(text="c")),
        (3, Searching()),
    ]
    assert journal.history(one, after_seq=2) == (last,)
    assert journal.history(one, after_seq=3) == ()


def test_an_event_of_an_unknown_conversation_does_not_take_others_along(journal: Journal) -> None:
    known = journal.create_conversation("o", "1")
    records = journal.append(
        [JournalEntry("unknown", "t", AT, Searching()), JournalEntry(known, "t", AT, Searching())]
    )
    assert [(r.conversation_id, r.seq) for r in records] == [("unknown", 0), (known, 1)]
    assert len(journal.history(known)) == 1


def test_writers_at_once_leave_no_gap_and_no_double(journal: Journal) -> None:
    ids = [journal.create_conversation("o", str(n)) for n in range(3)]

    def write(order: list[str]) -> None:
        for _ in range(20):
            journal.append([JournalEntry(c, "t", AT, Searching()) for c in order])

    threads = [Thread(target=write, args=(order,)) for order in (ids, ids[::-1], ids[1:] + ids[:1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [[r.seq for r in journal.history(c)] for c in ids] == [list(range(1, 61))] * 3


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (TurnFinished(answer="45"), "finished"),
        (TurnFailed(where="execute", message="m"), "failed"),
        (TurnStopped(reason="r"), "stopped"),
        (Searching(), "running"),
    ],
)
def test_the_event_that_ends_a_turn_also_ends_its_row(
    engine: sa.Engine, journal: Journal, event: Event, state: str
) -> None:
    conversation = journal.create_conversation("o", "t")
    turn = journal.begin_turn(conversation, "r")
    assert _states(engine) == {turn: "running"}
    journal.append([JournalEntry(conversation, turn, AT, event)])
    assert _states(engine) == {turn: state}


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        (
            {"type": "synthesis_step", "step": "strengthen", "state": "started"},
            SynthesisStep(step="strengthen", state="started"),
        ),
        (
            {"type": "turn_failed", "where": "coder", "message": "m"},
            TurnFailed(where="coder", message="m"),
        ),
        (
            {"type": "turn_finished", "answer": "45", "tool": None},
            TurnFinished(answer="45", outcome=Outcome.ANSWERED),
        ),
    ],
)
def test_events_without_newer_fields_are_read(
    engine: sa.Engine, journal: Journal, recorded: object, now: Event
) -> None:
    conversation = journal.create_conversation("o", "t")
    journal.append([JournalEntry(conversation, "t", AT, Searching())])
    with writing(engine) as connection:
        connection.execute(schema.events.update().values(event=json.dumps(recorded)))
    assert [record.event for record in journal.history(conversation)] == [now]


ENDINGS = {
    "finished": TurnFinished(answer="45"),
    "failed": TurnFailed(where="execute", message="m"),
    "stopped": TurnStopped(reason="r"),
}


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "later"])
@pytest.mark.parametrize(
    "again", [*ENDINGS.values(), TurnFinished(answer="46")], ids=[*ENDINGS, "finished otherwise"]
)
@pytest.mark.parametrize("state", ENDINGS)
def test_a_turn_that_has_ended_stays_as_it_ended(
    engine: sa.Engine, journal: Journal, state: str, again: Event, together: bool
) -> None:
    conversation = journal.create_conversation("o", "t")
    turn, other = journal.begin_turn(conversation, "r"), journal.begin_turn(conversation, "another")
    entries = [JournalEntry(conversation, turn, AT, event) for event in (ENDINGS[state], again)]
    for batch in [entries] if together else [[entry] for entry in entries]:
        journal.append(batch)
    with reading(engine) as connection:
        rows = {
            row.id: (row.state, row.answer) for row in connection.execute(sa.select(schema.turns))
        }
    assert rows == {turn: (state, "45" if state == "finished" else None), other: ("running", None)}
    assert [r.event for r in journal.history(conversation)] == [ENDINGS[state], again], (
        "what happened is told all the same"
    )


@pytest.fixture
def dead_server() -> str:
    """Named by a process that has ended since."""
    told = subprocess.run(
        [sys.executable, "-c", "import selfeng.core.process as s; print(s.this_process())"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return told.stdout.strip()


def _left_running(journal: Journal) -> tuple[str, str]:
    """A conversation and its turn."""
    conversation = journal.create_conversation("o", "t")
    turn = journal.begin_turn(conversation, "r")
    journal.append([JournalEntry(conversation, turn, AT, TurnStarted(request="r"))])
    return conversation, turn


def test_turns_of_a_killed_server_are_stopped_once(
    engine: sa.Engine, journal: Journal, dead_server: str
) -> None:
    conversation, turn = _left_running(Journal(engine, dead_server))
    _finish(journal, conversation, "done", "yes")
    (record,) = journal.stop_abandoned_turns()
    assert (record.turn_id, record.seq, record.event) == (
        turn,
        3,
        TurnStopped(reason="The server ended while this was running.", by="server"),
    )
    assert journal.history(conversation, 2) == (record,)
    assert sorted(_states(engine).values()) == ["finished", "stopped"]
    assert journal.stop_abandoned_turns() == []


def test_turns_of_a_server_that_still_runs_go_on(engine: sa.Engine) -> None:
    command = [
        sys.executable,
        "-c",
        "import selfeng.core.process as s; print(s.this_process(), flush=True); input()",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as other:
        assert other.stdin
        assert other.stdout
        _, turn = _left_running(Journal(engine, other.stdout.readline().strip()))
        assert Journal(engine).stop_abandoned_turns() == []
        assert _states(engine) == {turn: "running"}
        other.kill()
        other.stdout.read()
        other.wait()
    assert [r.turn_id for r in Journal(engine).stop_abandoned_turns()] == [turn]


def test_turns_whose_server_was_never_noted_are_stopped(
    engine: sa.Engine, journal: Journal
) -> None:
    _, turn = _left_running(journal)
    with writing(engine) as connection:
        connection.execute(schema.turns.update().values(server=None))
    assert [r.turn_id for r in journal.stop_abandoned_turns()] == [turn]


def test_turns_before_this_machine_was_started_anew_are_stopped(
    engine: sa.Engine, journal: Journal
) -> None:
    machine, _, pid, start = this_process().split(":")
    _, turn = _left_running(Journal(engine, f"{machine}:another boot:{pid}:{start}"))
    assert [r.turn_id for r in journal.stop_abandoned_turns()] == [turn]


def test_turns_of_another_machine_are_left_to_it_for_a_day(
    engine: sa.Engine, journal: Journal
) -> None:
    _, turn = _left_running(Journal(engine, "elsewhere:boot:1:1"))
    assert journal.stop_abandoned_turns() == []
    with writing(engine) as connection:
        connection.execute(
            schema.turns.update().values(started_at=datetime.now(UTC) - timedelta(hours=25))
        )
    assert [r.turn_id for r in journal.stop_abandoned_turns()] == [turn]


def test_the_model_sees_finished_turns_oldest_first(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    for number in range(4):
        _finish(journal, conversation, f"request {number}", f"answer {number}")
    failed = journal.begin_turn(conversation, "failed")
    journal.append(
        [JournalEntry(conversation, failed, AT, TurnFailed(where="internal", message="m"))]
    )
    journal.begin_turn(conversation, "running")
    assert journal.messages(conversation, limit=5) == (
        ChatMessage(role="user", content="request 2"),
        ChatMessage(role="assistant", content="answer 2"),
        ChatMessage(role="user", content="request 3"),
        ChatMessage(role="assistant", content="answer 3"),
    )
    assert journal.messages("unknown", limit=5) == ()


def test_a_clock_that_is_set_back_changes_no_order(engine: sa.Engine, journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    _finish(journal, conversation, "request 1", "answer 1")
    with writing(engine) as connection:  # an hour from now, by the clock that is set back then
        later = datetime.now(UTC) + timedelta(hours=1)
        connection.execute(schema.turns.update().values(started_at=later))
        connection.execute(schema.conversations.update().values(active_at=later))
    _finish(journal, conversation, "request 2", "answer 2")
    _finish(journal, conversation, "request 3", "answer 3")
    assert journal.last_request(conversation) == "request 3"
    requests = [m.content for m in journal.messages(conversation) if m.role == "user"]
    assert requests == ["request 1", "request 2", "request 3"]


def test_what_the_model_sees_is_bounded(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    for letter in "abc":
        _finish(journal, conversation, letter * 20_000, letter * 2_000)
    messages = journal.messages(conversation)
    assert [(m.role, m.content[0], len(m.content)) for m in messages] == [
        ("user", "b", 8_000),
        ("assistant", "b", 2_000),
        ("user", "c", 8_000),
        ("assistant", "c", 2_000),
    ]
    assert messages[0].content.endswith("b…")


def test_text_that_no_encoding_carries_is_repaired(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "title \ud800\0")
    turn = journal.begin_turn(conversation, "half \udc00")
    (record,) = journal.append(
        [
            JournalEntry(
                conversation, turn, AT, TurnFinished(answer="joined \ud83d\ude00, half \ud800!")
            )
        ]
    )
    assert record.event == TurnFinished(answer="joined 😀, half \N{REPLACEMENT CHARACTER}!")
    assert journal.history(conversation) == (record,)
    assert journal.conversations("o")[0].title == "title \N{REPLACEMENT CHARACTER}"
    assert [m.content for m in journal.messages(conversation)] == [
        "half \N{REPLACEMENT CHARACTER}",
        "joined 😀, half \N{REPLACEMENT CHARACTER}!",
    ]


def test_request_and_answer_are_kept_without_the_nul_characters_that_postgresql_refuses(
    journal: Journal,
) -> None:
    conversation = journal.create_conversation("o", "t")
    _finish(journal, conversation, "re\0quest", "\0answer")
    assert [m.content for m in journal.messages(conversation)] == ["request", "answer"]


def test_an_event_that_cannot_be_read_back_does_not_hide_the_others(
    engine: sa.Engine, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    conversation = journal.create_conversation("o", "t")
    journal.append(
        [
            JournalEntry(conversation, "t", AT, ToolFound(tool="x", confidence=1.0)),
            JournalEntry(conversation, "t", AT, Searching()),
        ]
    )
    with writing(engine) as connection:
        connection.execute(
            schema.events.update()
            .where(schema.events.c.seq == 1)
            .values(event='{"type": "of_the_future"}')
        )
    assert [r.seq for r in journal.history(conversation)] == [2]
    assert "event 1 of conversation" in caplog.text


def test_a_request_as_it_was_rewritten_is_its_persons_own(journal: Journal):
    conversation = journal.create_conversation("me", "t")
    turn = journal.begin_turn(conversation, "and 20?")
    found = ToolFound(tool="add", confidence=1.0, standalone="Add 1 to 20")
    step = ToolFound(tool="add", confidence=1.0, standalone="Add 2 to 20", plan_step="a")
    at = datetime.now(UTC)
    journal.append([JournalEntry(conversation, turn, at, event) for event in (found, step)])
    texts = ["and 20?", "Add 1 to 20", "Add 2 to 20"]
    assert journal.said("me", texts) == {"and 20?", "Add 1 to 20"}
    assert journal.said_by_others("you", texts).keys() == {"and 20?", "Add 1 to 20"}


def test_rounds_of_questions_are_counted_from_the_newest_turn_back_until_one_asked_nothing(
    journal: Journal,
) -> None:
    conversation = journal.create_conversation("me", "hi")
    asked = QuestionsAsked(
        questions=(Question(id="unit", question='Which unit? "type":"questions_asked"'),)
    )

    def turn(*events: Event) -> None:
        turn_id = journal.begin_turn(conversation, "hi")
        journal.append([JournalEntry(conversation, turn_id, AT, event) for event in events])

    assert journal.rounds(conversation) == ()
    turn(asked, TurnFinished(answer="Which unit?"))
    turn(TurnStarted(request='"type":"questions_asked"'), TurnFinished(answer="4"))
    assert journal.rounds(conversation) == ()
    turn(asked, TurnFinished(answer="Which unit?"))
    later = asked.model_copy(update={"agent": "proxy"})
    turn(later, TurnFinished(answer="Which unit?"))
    assert journal.rounds(conversation) == (later, asked)


def test_an_event_of_a_number_is_stored_once_and_its_record_is_the_same(journal: Journal) -> None:
    conversation = journal.create_conversation("o", "t")
    turn = journal.begin_turn(conversation, "r", started=TurnStarted(request="r"), given="{}")
    first = JournalEntry(conversation, turn, AT, TurnStarted(request="r"), scope="", n=1)
    second = JournalEntry(conversation, turn, AT, Searching(), scope="", n=2)
    piece = JournalEntry(conversation, turn, AT, AnswerToken(text="x"))
    for numbers in ([1, 2, 3], [1, 2, 4]):
        assert [r.seq for r in journal.append([first, second, piece])] == numbers
    other = JournalEntry(conversation, turn, AT, Searching(plan_step="a"), scope="a", n=2)
    assert [r.seq for r in journal.append([other, piece])] == [5, 6]
    kept = [r.event.type for r in journal.history(conversation)]
    assert kept == [
        "turn_started",
        "searching",
        "answer_token",
        "answer_token",
        "searching",
        "answer_token",
    ]


def test_events_of_a_process_that_lost_the_turn_are_left_out(
    engine: sa.Engine, journal: Journal
) -> None:
    conversation = journal.create_conversation("o", "t")
    turn, other = (journal.begin_turn(conversation, "r") for _ in range(2))
    with writing(engine) as connection:
        mine = schema.turns.c.id == turn
        connection.execute(schema.turns.update().where(mine).values(lease=2))
    entries = [
        JournalEntry(conversation, turn, AT, Searching(), scope="", n=1, lease=1),
        JournalEntry(conversation, other, AT, Searching(), scope="", n=1, lease=1),
        JournalEntry(conversation, turn, AT, TurnFinished(answer=""), scope="", n=2, lease=1),
        JournalEntry(conversation, turn, AT, AnswerToken(text="x"), lease=2),
    ]
    assert [(r.seq, r.turn_id) for r in journal.append(entries)] == [(1, other), (2, turn)]
    assert _states(engine) == {turn: "running", other: "running"}


def test_turns_of_a_killed_server_return_to_the_queue_where_they_can_go_on(
    engine: sa.Engine, dead_server: str
) -> None:
    gone = Journal(engine, dead_server)
    conversation = gone.create_conversation("o", "t")
    goes_on, old = (gone.begin_turn(conversation, "r", given=g) for g in ("{}", None))
    here = Journal(engine)
    runs = here.begin_turn(conversation, "r", given="{}")
    queue = TurnQueue(engine, lambda: QueueLimits(9, 9, 9))
    assert here.any_lost()
    here.release_lost()
    assert queue.claim(9) == [ClaimedTurn("o", conversation, goes_on, 3, "{}")]
    here.release_lost()
    assert queue.claim(9) == []
    here.stop_abandoned_turns()
    assert not here.any_lost()
    assert _states(engine) == {goes_on: "running", old: "stopped", runs: "running"}


class NobodyElse(Processes):
    """All other processes are gone."""

    def is_gone(self, process: str | None) -> bool:
        return process != this_process()


def test_a_build_waits_for_its_machine_which_has_its_folder(
    engine: sa.Engine, dead_server: str
) -> None:
    here = Journal(engine, processes=NobodyElse(engine))
    project = here.create_conversation("o", "p", "project")
    _, boot, *rest = dead_server.split(":")
    elsewhere = Journal(engine, ":".join(("elsewhere", boot, *rest)))
    build = elsewhere.begin_turn(project, "r", given="{}")
    action = elsewhere.begin_turn(project, "r")
    queue = TurnQueue(engine, lambda: QueueLimits(9, 9, 9))
    here.release_lost()
    assert queue.claim(9, others=True) == []
    here.stop_abandoned_turns()
    assert _states(engine) == {build: "running", action: "stopped"}
    assert not here.any_lost()
    mine = Journal(engine, dead_server).begin_turn(project, "r", given="{}")
    assert here.any_lost()
    here.release_lost()
    assert (
        TurnQueue(engine, lambda: QueueLimits(9, 9, 9), server="elsewhere").claim(9, others=True)
        == []
    )
    assert queue.claim(0) == [ClaimedTurn("o", project, mine, 3, "{}")]


def test_the_turn_that_was_the_last_of_five_processes_ends(
    engine: sa.Engine, dead_server: str
) -> None:
    here, limits = Journal(engine), QueueLimits(9, 9, 9)
    conversation = here.create_conversation("o", "t")
    Journal(engine, dead_server).begin_turn(conversation, "r", given="{}")
    for _ in range(4):
        here.release_lost()
        assert len(TurnQueue(engine, lambda: limits, dead_server).claim(9, others=True)) == 1
    here.release_lost()
    (ended,) = here.stop_abandoned_turns()
    assert ended.event.type == "turn_stopped"


def test_the_newest_turns_are_read_whole_and_earlier_ones_from_there(journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "many")
    turns = {
        name: journal.begin_turn(conversation, name, started=TurnStarted(request=name))
        for name in "abcd"
    }  # a ends after c began

    def end(name: str) -> None:
        event = TurnFinished(answer=name)
        journal.append([JournalEntry(conversation, turns[name], AT, event)])

    for name in "badc":
        end(name)
    fifth = journal.begin_turn(conversation, "e", started=TurnStarted(request="e"))
    journal.append([JournalEntry(conversation, fifth, AT, TurnFinished(answer="e"))])

    def seqs(**part: int) -> list[int]:
        return [record.seq for record in journal.history(conversation, **part)]

    assert seqs(turns=1) == [9, 10]
    assert seqs(turns=1, before=9) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert seqs(turns=9) == seqs() == list(range(1, 11))
    assert seqs(turns=1, before=1) == []
    first, _ = journal.history(conversation, turns=1)
    assert first.event.after == journal.parent(fifth) in turns.values()
