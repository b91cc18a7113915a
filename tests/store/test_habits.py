"""The requests that often follow a tool, and the tools used together with it."""

from datetime import UTC, datetime

import pytest

from selfeng.core.events import (
    AnswerCorrected,
    ExecutionFailed,
    ExecutionFinished,
    SynthesisStep,
    TurnFinished,
)
from selfeng.core.verdict import Raised
from selfeng.store.habits import FollowUp, Habits, PastTurn
from selfeng.store.journal import Journal, JournalEntry
from tests.doubles import returned

RAISED = Raised(type_name="TypeError", message="x is no number")


@pytest.fixture
def journal(database):
    return Journal(database)


def turn(journal, conversation, request, *tools, failed=()):
    """A turn that has called these tools; the `failed` ones raised."""
    turn_id = journal.begin_turn(conversation, request)
    calls = [ExecutionFinished(tool=tool, execution=returned(), seconds=0.1) for tool in tools]
    calls += [ExecutionFailed(tool=tool, execution=RAISED, seconds=0.1) for tool in failed]
    end = TurnFinished(answer="Done.", tool=tools[-1] if tools else None)
    now = datetime.now(UTC)
    journal.append([JournalEntry(conversation, turn_id, now, event) for event in (*calls, end)])


def test_what_follows_a_tool_twice_is_a_habit_with_its_newest_request(journal):
    for number in (1, 2):
        mine = journal.create_conversation("me", "sales")
        turn(journal, mine, "Read sales.csv", "read_table")
        turn(journal, mine, f"Chart month {number}", "draw_chart")
        turn(journal, mine, "Thanks!")
    turn(journal, mine, "Add 1 and 2", "add")
    habits = journal.habits("me", "read_table")
    assert habits.after == (FollowUp(tool="draw_chart", request="Chart month 2", times=2),)
    assert habits.together == ("draw_chart",)
    habits = journal.habits("me", "draw_chart")
    assert (habits.after, habits.together) == ((), ("read_table",))
    habits = journal.habits("me", "add")
    assert (habits.after, habits.together) == ((), ())


def test_a_tool_knows_the_conversation_that_built_it_and_its_last_uses(journal):
    built, used = (journal.create_conversation("me", title) for title in ("built", "used"))
    turn_id = journal.begin_turn(built, "Reverse 'abc'")
    text = "reverse_text is in the library."
    step = SynthesisStep(step="register", state="finished", text=text)
    journal.append([JournalEntry(built, turn_id, datetime.now(UTC), step)])
    for number in range(7):
        turn(journal, used, f"Reverse {number}", "reverse_text")
    habits = journal.habits("me", "reverse_text")
    assert habits.made == PastTurn(conversation_id=built, request="Reverse 'abc'")
    assert [one.request for one in habits.last] == [f"Reverse {n}" for n in (6, 5, 4, 3, 2)]
    assert {one.conversation_id for one in habits.last} == {used}
    assert journal.habits("me", "reverse1text").made is None
    assert journal.habits("somebody", "reverse_text") == Habits()


def test_every_call_of_a_tool_is_told_with_its_time_and_whether_it_returned(journal):
    mine, theirs = journal.create_conversation("me", "a"), journal.create_conversation("them", "b")
    before = datetime.now(UTC)
    turn(journal, mine, "Add 1 and 2", "add")
    turn(journal, mine, "Add 1 and x", failed=["add"])
    turn(journal, theirs, "Add 2 and 3", "add")
    calls = journal.habits("me", "add").calls
    assert [call.returned for call in calls] == [False, True]
    assert before <= calls[1].at <= calls[0].at <= datetime.now(UTC)
    assert journal.last_uses("me") == {"add": calls[1].at}
    assert journal.last_uses("nobody") == {}


def test_tools_of_one_turn_belong_together(journal):
    mine = journal.create_conversation("me", "words")
    for _ in range(2):
        turn(journal, mine, "Reverse it and count its vowels", "reverse", "count")
        turn(journal, mine, "Thanks!")
    assert journal.habits("me", "count").together == ("reverse",)


def test_nobody_sees_the_habits_of_others(journal):
    theirs = journal.create_conversation("them", "sales")
    for _ in range(2):
        turn(journal, theirs, "Read sales.csv", "read_table")
        turn(journal, theirs, "Chart it", "draw_chart")
    assert journal.habits("me", "read_table") == Habits()
    assert journal.habits("them", "read_table").after[0].times == 2


def test_a_wrong_answer_is_no_habit_and_its_correction_has_its_request(journal):
    mine = journal.create_conversation("me", "sum")
    turn(journal, mine, "Add 1 and -4", "add")
    (wrong,) = {record.turn_id for record in journal.history(mine)}
    turn_id = journal.begin_turn(mine, "That is wrong: -3")
    events = (
        AnswerCorrected(tool="add", version=2, turn_id=wrong),
        ExecutionFinished(tool="add", execution=returned(), seconds=0.1),
        TurnFinished(answer="-3", tool="add"),
    )
    now = datetime.now(UTC)
    journal.append([JournalEntry(mine, turn_id, now, event) for event in events])
    habits = journal.habits("me", "add")
    assert [past.request for past in habits.last] == ["Add 1 and -4"]
    assert len(habits.calls) == 1
