"""The list of conversations: renamed, pinned, deleted, restored, seen and found, each by its
owner only.
"""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import Searching, TurnFinished
from selfeng.store import schema
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.database import writing
from selfeng.store.journal import Journal, JournalEntry

AT = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def engine(database: sa.Engine) -> sa.Engine:
    return database


@pytest.fixture
def journal(engine: sa.Engine) -> Journal:
    return Journal(engine)


def _change(journal: Journal, conversation: str, **change: object) -> None:
    journal.change_conversation("ann", conversation, ConversationChange.model_validate(change))


def _titles(journal: Journal, text: str = "") -> list[str]:
    return [c.title for c in journal.conversations("ann", text=text)]


def _answer(journal: Journal, conversation: str, request: str, answer: str) -> None:
    turn = journal.begin_turn(conversation, request)
    journal.append([JournalEntry(conversation, turn, AT, TurnFinished(answer=answer))])


def test_a_conversation_is_renamed_and_pinned(journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "first")
    _change(journal, conversation, title="  Sales\x00 ", pinned=True)
    found = journal.conversation("ann", conversation)
    assert (found.title, found.pinned) == ("Sales", True)
    _change(journal, conversation, pinned=False)
    assert not journal.conversation("ann", conversation).pinned


def test_a_deleted_conversation_is_hidden_and_comes_back_whole(journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "first")
    _answer(journal, conversation, "one?", "one")
    before = journal.conversations("ann")
    turn = journal.history(conversation)[0].turn_id
    _change(journal, conversation, deleted=True)
    assert journal.conversations("ann") == ()
    for read in (journal.conversation, journal.turn):
        with pytest.raises(ResourceNotFound):
            read("ann", turn if read == journal.turn else conversation)
    with pytest.raises(ResourceNotFound):
        _change(journal, conversation, title="other")
    journal.remove_deleted()
    _change(journal, conversation, deleted=False)
    assert journal.conversations("ann") == before
    assert [r.event for r in journal.history(conversation)] == [TurnFinished(answer="one")]


def test_only_what_was_deleted_a_day_ago_is_removed(engine: sa.Engine, journal: Journal) -> None:
    old, new, kept = (journal.create_conversation("ann", t) for t in ("old", "new", "kept"))
    for conversation in (old, new):
        _change(journal, conversation, deleted=True)
    long_ago = {"deleted_at": datetime.now(UTC) - timedelta(days=2)}
    with writing(engine) as connection:
        table = schema.conversations
        connection.execute(table.update().where(table.c.id == old).values(**long_ago))
    journal.remove_deleted()
    with pytest.raises(ResourceNotFound):
        _change(journal, old, deleted=False)
    _change(journal, new, deleted=False)
    assert {c.id for c in journal.conversations("ann")} == {new, kept}


def test_a_program_that_names_a_deleted_conversation_gets_it_back(journal: Journal) -> None:
    conversation = journal.named_conversation("ann", "sums")
    _change(journal, conversation, deleted=True)
    assert journal.named_conversation("ann", "sums") == conversation
    assert _titles(journal) == ["sums"]


def test_nobody_changes_what_belongs_to_somebody_else_or_to_a_project(journal: Journal) -> None:
    foreign = journal.create_conversation("bob", "his")
    project = journal.create_conversation("ann", "song", "project")
    for conversation in (foreign, project, "unknown", "\ud800"):
        for change in ({"title": "mine"}, {"deleted": True}, {"deleted": False}, {"seen": True}):
            with pytest.raises(ResourceNotFound, match="unknown conversation"):
                _change(journal, conversation, **change)
    assert journal.conversation("bob", foreign).title == "his"


@pytest.mark.parametrize(
    "change", [{}, {"title": " "}, {"title": "x" * 201}, {"pinned": "yes"}, {"seen": False}]
)
def test_a_change_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ConversationChange.model_validate(change)


def test_the_list_says_what_runs_and_what_is_unread(journal: Journal) -> None:
    conversation = journal.create_conversation("ann", "first")
    turn = journal.begin_turn(conversation, "one?")
    journal.append([JournalEntry(conversation, turn, AT, Searching())])
    (listed,) = journal.conversations("ann")
    assert (listed.running, listed.unread) == (True, True)
    journal.append([JournalEntry(conversation, turn, AT, TurnFinished(answer="one"))])
    _change(journal, conversation, seen=True)
    (listed,) = journal.conversations("ann")
    assert (listed.running, listed.unread) == (False, False)
    _answer(journal, conversation, "two?", "two")
    assert journal.conversations("ann")[0].unread


def test_the_conversation_with_the_newest_turn_comes_first(journal: Journal) -> None:
    first, _ = (journal.create_conversation("ann", title) for title in ("first", "second"))
    assert _titles(journal) == ["second", "first"]
    _answer(journal, first, "more?", "more")
    assert _titles(journal) == ["first", "second"]
    active_at = journal.conversations("ann")[0].active_at
    assert (active_at.microsecond, active_at.tzinfo) == (0, UTC)


def test_words_are_found_in_titles_requests_and_answers(journal: Journal) -> None:
    sales = journal.create_conversation("ann", "Sales of May")
    _answer(journal, sales, "Sum the Übung column", "100%_done")
    journal.create_conversation("ann", "Prime factors")
    journal.create_conversation("bob", "Sales of bob")
    for text in ("sales", "MAY sum", "übung", "100%_", "done sales"):
        assert _titles(journal, text) == ["Sales of May"], text
    for text in ("sales prime", "0_0", "%%", "bob"):
        assert _titles(journal, text) == [], text
    _change(journal, sales, deleted=True)
    assert _titles(journal, "sales") == []


def test_what_is_found_comes_with_the_line_of_the_newest_turn_that_has_a_word(
    journal: Journal,
) -> None:
    sales = journal.create_conversation("ann", "Sales of May")
    _answer(journal, sales, "Sum the sales", "old")
    _answer(journal, sales, "and?", f"First line.\n{'x' * 60} the Sales were 7 {'y' * 99}\nLast")
    snippets = [one.snippet for one in journal.conversations("ann", text="sales may")]
    assert snippets == [f"{'x' * 35} the Sales were 7 {'y' * 72}"]
    assert [one.snippet for one in journal.conversations("ann")] == [""]
    prime = journal.create_conversation("ann", "Prime factors")
    assert [one.snippet for one in journal.conversations("ann", text="prime")] == [""]
    journal.begin_turn(prime, "Is 7 prime?")  # it runs, and has no answer yet
    assert [one.snippet for one in journal.conversations("ann", text="prime")] == ["Is 7 prime?"]


def test_a_search_finds_a_bounded_number(journal: Journal) -> None:
    for number in range(55):
        journal.create_conversation("ann", f"number {number}")
    assert (len(_titles(journal, "number")), len(_titles(journal))) == (50, 55)
