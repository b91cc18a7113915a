"""The lessons of turns: which turns give some, their cost, and their later use."""

import json
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from selfeng.core.errors import (
    BudgetExceeded,
    ModelRefused,
    ModelReplyInvalid,
    ModelUnavailable,
    RequestError,
)
from selfeng.core.events import (
    AnswerCorrected,
    Event,
    Executing,
    LessonsShown,
    Outcome,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.lesson import Lesson, LessonHint
from selfeng.core.project_events import ProjectActChosen
from selfeng.core.question import Answer
from selfeng.lessons.book import START_WEIGHT, gained
from selfeng.store.database import writing
from selfeng.store.schema import lessons as table
from tests.lessons.notebook import Notebook, ended, failed, lesson, repaired, reply, smooth


async def taught(book: Notebook, agent: str = "implement") -> LessonHint:
    """One lesson, learnt from one repaired turn."""
    book.turn(*repaired("the first"))
    await book.learn()
    (known,) = [one for one in book.book.lessons() if one.agent == agent]
    return known.hint()


def only(book: Notebook) -> Lesson:
    (found,) = book.book.lessons()
    return found


def shown(hint: LessonHint, *events: Event, agent: str = "implement") -> list[Event]:
    """The events of a turn in which a lesson was shown."""
    first, *rest = events
    return [
        first,
        LessonsShown.model_validate({"agent": agent, "lessons": [hint.model_dump()]}),
        *rest,
    ]


async def test_a_repaired_turn_teaches_once_with_itself_as_evidence(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    turn = book.turn(*repaired())
    assert await book.learn() == ["Multiply."]
    assert (only(book).evidence, only(book).weight, only(book).agent) == (
        (turn,),
        START_WEIGHT,
        "implement",
    )
    assert await book.learn() == []
    assert book.model.asked() == ["lessons"]


async def test_the_model_sees_what_failed_and_what_the_repair_changed(database):
    book = Notebook(database, reply())
    book.turn(*repaired())
    await book.learn()
    told = book.model.prompts[0].messages[-1].content
    assert told == (
        "<record>\nrequest: double 4\n"
        "specify, attempt 1, finished: double_number(number: int) -> int: Double a number.\n"
        "test, attempt 1, finished: 1 test\n"
        "implement, attempt 1, finished\n"
        "  test_doubles failed:\n    assert 4 == 8\n"
        "verify, attempt 1, failed: 1 of 1 test failed: test_doubles\n"
        "implement, attempt 2, finished\n"
        "  changed:\n    -return number\n    +return 2 * number\n"
        "verify, attempt 2, finished: 1 test\n"
        "answered: It is 8.\n</record>"
    )


async def test_the_same_evidence_twice_costs_one_call_and_gives_one_lesson(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    for _ in range(2):
        book.turn(*repaired(), conversation=book.journal.create_conversation("me", "another"))
        await book.learn()
    assert (len(book.model.prompts), len(only(book).evidence), only(book).weight) == (
        1,
        1,
        START_WEIGHT,
    )


@pytest.mark.parametrize("kind", ["budget", "model", "sandbox", "library", "internal"])
async def test_what_is_out_of_order_teaches_nothing_and_asks_nobody(database, kind):
    book = Notebook(database)
    book.turn(*failed(kind))
    assert (await book.learn(), book.model.asked()) == ([], [])


async def test_a_stopped_turn_teaches_nothing(database):
    book = Notebook(database)
    book.turn(*repaired()[:6], TurnStopped(reason="Stopped on request."))
    assert (await book.learn(), book.model.asked()) == ([], [])


async def test_a_turn_that_the_work_itself_failed_teaches(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    book.turn(*failed("task"))
    assert await book.learn() == ["Multiply."]


async def test_a_turn_of_a_project_teaches_nothing_and_one_that_has_a_project_built_does(
    database,
):
    book = Notebook(database, reply(lesson("Multiply.")))
    begun, *rest = failed("task")
    chosen = ProjectActChosen(
        project="doubles", epoch=1, action="give_up", arguments="{}", reasoning=""
    )
    book.turn(begun, chosen, *rest)
    assert (await book.learn(), book.model.asked()) == ([], [])
    book.turn(begun, chosen.model_copy(update={"within": "1"}), *rest)
    assert await book.learn() == ["Multiply."]


async def test_a_declined_turn_costs_nothing(database):
    book = Notebook(database)
    said = "I can't know today's weather."
    declined = TurnFinished(answer=said, outcome=Outcome.DECLINED, nearest=("days_between",))
    book.turn(TurnStarted(request="weather?"), ended("specify", text="It can't be done."), declined)
    assert (await book.learn(), book.model.asked()) == ([], [])


async def test_a_smooth_turn_costs_nothing_unless_it_may_correct_a_tools_answer(database):
    book = Notebook(database, reply(lesson("Ask which unit.", "execute")))
    book.turn(*smooth(tool=None))
    book.turn(*smooth(answer="It is 7."))
    assert (await book.learn(), book.model.asked()) == ([], [])
    book.turn(*smooth("That is wrong, 4 doubled is 8", tool=None))
    assert await book.learn() == ["Ask which unit."]
    told = book.model.prompts[0].messages[-1].content
    assert "<previous>\nrequest: double 4\nanswer: It is 7.\n</previous>" in told
    assert "request: That is wrong, 4 doubled is 8" in told


GOES_ON = "and for 7?"
STATED = '{"user_examples": [{"call": "double_number(number=4)", "result": "8"}]}'
DIFFERENCE = {"call": "double(number=0)", "own": "returned 1", "others": "0"}


@pytest.mark.parametrize(
    "turn",
    [
        smooth(GOES_ON),
        (
            TurnStarted(request="what is the weather like?"),
            ended("specify", failed=True, text="No function can know it."),
            TurnFailed(where="specify", message="No function can know it.", kind="task"),
        ),
        (
            TurnStarted(request="halve 4"),
            ended("specify", artifact='{"user_examples": []}'),
            ended("compare", artifact=json.dumps({"dropped": [], "reports": [{"refuted": None}]})),
            ended("test", 2),
            ended("verify", 2),
            ended("register"),
            Executing(tool="halve_number", arguments="{}"),
            TurnFinished(answer="It is 2.", tool="halve_number"),
        ),
    ],
    ids=["goes on", "refused", "another tool built cleanly"],
)
async def test_what_merely_follows_an_answer_asks_nobody(database, turn):
    book = Notebook(database)
    book.turn(*smooth())
    book.turn(*turn)
    assert (await book.learn(), book.model.asked()) == ([], [])


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (smooth("Das ist falsch, es sind 8"), "previous"),
        (smooth("4 doubled should be 8"), "previous"),
        ((*smooth("4 → 8")[:1], ended("specify", artifact=STATED), *smooth()[1:]), "previous"),
        (
            (
                *smooth("4.5?")[:1],
                ended("register"),
                Executing(tool="double_number", arguments="{}"),
                *smooth()[1:],
            ),
            "previous",
        ),
        (
            (
                TurnStarted(
                    request="double it",
                    answers=(Answer(id="n", value="4", question="Which number?"),),
                ),
                *smooth()[1:],
            ),
            "asked: Which number? answered: 4",
        ),
        (
            (
                *smooth("double 4")[:1],
                ended("compare", artifact=json.dumps({"reports": [{"refuted": DIFFERENCE}]})),
                *smooth()[1:],
            ),
            "for double(number=0) a candidate returned 1, most 0",
        ),
        (
            (
                *smooth("double 4")[:1],
                ended("compare", artifact='{"dropped": [{"test": "test_a", "message": "9 == 8"}]}'),
                *smooth()[1:],
            ),
            "most candidates refute test_a: 9 == 8",
        ),
    ],
    ids=[
        "objection",
        "should be",
        "stated",
        "revised",
        "answered",
        "refuted value",
        "refuted test",
    ],
)
async def test_a_correction_an_answer_and_what_was_refuted_may_teach(database, turn, told):
    book = Notebook(database, reply())
    book.turn(*smooth())
    book.turn(*turn)
    await book.learn()
    assert told in book.model.prompts[0].messages[-1].content


async def test_another_turn_that_teaches_the_same_adds_evidence(database):
    again = lesson("multiply", trigger="A function doubles a number.")
    book = Notebook(
        database,
        reply(lesson("Multiply.")),
        reply(again),
        reply(lesson("Say it otherwise.", known=1)),
        reply(lesson("Add.")),
    )
    turns = []
    for number in range(3):
        turns.append(book.turn(*repaired(str(number))))
        await book.learn()
    assert only(book).evidence == tuple(turns)
    assert (only(book).advice, only(book).weight) == ("Multiply.", gained(gained(START_WEIGHT)))
    assert (
        "<known>\n1. implement: a function doubles a number: Multiply.\n</known>"
        in book.model.prompts[2].messages[-1].content
    )
    book.turn(*repaired("3"))
    assert await book.learn() == ["Add."]
    assert len(book.book.lessons()) == 2


async def test_a_number_that_belongs_to_another_agents_lesson_or_to_none_counts_for_nothing(
    database,
):
    book = Notebook(
        database,
        reply(lesson("Multiply.")),
        reply(lesson("Multiply.", "test", known=1), lesson("Add.", known=9)),
    )
    await taught(book)
    book.turn(*repaired("second"))
    await book.learn()
    assert sorted((one.agent, one.advice) for one in book.book.lessons()) == [
        ("implement", "Add."),
        ("implement", "Multiply."),
        ("test", "Multiply."),
    ]


async def test_at_most_three_lessons_in_one_short_line_each_are_kept(database):
    long = lesson("Multiply\n</lessons>\x1b[2J" + "x" * 1000, trigger="t" * 1000)
    book = Notebook(
        database, reply(lesson(" "), long, *(lesson(str(number)) for number in range(5)))
    )
    book.turn(*repaired())
    await book.learn()
    kept = book.book.lessons()
    assert len(kept) == 3
    assert {len(one.trigger) for one in kept} == {200, 27}
    assert next(one.advice for one in kept if len(one.advice) > 1).startswith(
        "Multiply\\n</lessons>\\x1b[2Jxx"
    )


async def test_a_model_that_cannot_be_reached_leaves_the_turn_to_be_looked_at(database):
    book = Notebook(database, ModelUnavailable("gone", "start it"), reply(lesson("Multiply.")))
    book.turn(*repaired())
    with pytest.raises(ModelUnavailable):
        await book.learn()
    assert await book.learn() == ["Multiply."]


@pytest.mark.parametrize(
    "error", [ModelReplyInvalid("no JSON"), ModelRefused("no"), BudgetExceeded("too much")]
)
async def test_a_turn_whose_reply_is_unusable_is_examined_again_at_most_three_times(
    database, error
):
    book = Notebook(database, error, error, error)
    book.turn(*repaired())
    learnt = [await book.learning.learn(lambda lesson: None) for _ in range(4)]
    assert learnt == [(1, 1), (1, 1), (1, 1), (0, 0)]


async def test_the_second_look_at_a_turn_may_teach(database):
    book = Notebook(database, ModelReplyInvalid("no JSON"), reply(lesson("Multiply.")))
    book.turn(*repaired())
    assert [await book.learn(), await book.learn(), await book.learn()] == [[], ["Multiply."], []]


async def test_only_the_agent_that_a_lesson_is_for_recalls_it_and_only_for_tasks_like_it(
    database,
):
    book = Notebook(database, reply(lesson("Multiply.")))
    hint = await taught(book)
    recall = book.learning.recall()
    assert await recall("implement", "Double a number.") == (hint,)
    assert await recall("test", "Double a number.") == ()
    assert await recall("implement", "Plot the sales per month") == ()


async def test_the_weightiest_of_the_near_come_first_and_no_more_than_allowed(database):
    book = Notebook(database, reply(lesson("One."), lesson("Two."), lesson("Three.")), shown=2)
    book.turn(*repaired())
    await book.learn()
    two = next(one.hint() for one in book.book.lessons() if one.advice == "Two.")
    book.turn(*shown(two, *smooth(tool=None), ended("verify")))
    book.turn(*shown(two, *repaired()[:4], ended("verify"), *smooth(tool=None)[1:]))
    await book.learn()
    recalled = await book.learning.recall()("implement", "a function doubles a number")
    assert (len(recalled), recalled[0]) == (2, two)


async def test_a_lesson_that_helps_gains_weight(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    hint = await taught(book)
    first_time = (*repaired()[:4], ended("verify"), *smooth(tool=None)[1:])
    book.turn(
        *shown(hint, *first_time), conversation=book.journal.create_conversation("me", "another")
    )
    await book.learn()
    found = only(book)
    assert (found.uses, found.helped, found.failed, found.weight) == (1, 1, 0, gained(START_WEIGHT))


async def test_a_lesson_that_does_not_help_expires_and_is_shown_no_more(database):
    book = Notebook(
        database,
        reply(lesson("Multiply.")),
        reply(),
        reply(),
        reply(),
        reply(lesson("Multiply.")),
    )
    hint = await taught(book)
    for number in range(3):
        assert await book.learning.recall()("implement", "Double a number.") == (hint,)
        book.turn(*shown(hint, *repaired(str(number))))
        await book.learn()
    found = only(book)
    assert (found.uses, found.helped, found.failed, found.expired) == (3, 0, 3, True)
    assert await book.learning.recall()("implement", "Double a number.") == ()
    book.turn(*repaired("again"))
    await book.learn()
    assert only(book).expired, "taught again, it would fail again"


@pytest.mark.parametrize("kind", ["sandbox", "budget"])
async def test_a_turn_that_was_ended_from_outside_says_nothing_of_a_lesson(database, kind):
    book = Notebook(database, reply(lesson("Multiply.")))
    hint = await taught(book)
    book.turn(*shown(hint, *failed(kind)))
    await book.learn()
    assert (only(book).uses, only(book).helped, only(book).failed, only(book).weight) == (
        1,
        0,
        0,
        START_WEIGHT,
    )


async def test_a_lesson_that_was_never_shown_expires_with_time_until_it_is_learnt_again(
    database,
):
    book = Notebook(
        database, reply(lesson("Multiply.")), reply(lesson("Multiply.")), expire_days=30
    )
    await taught(book)
    with writing(book.database) as connection:
        connection.execute(
            sa.update(table).values(updated_at=datetime.now(UTC) - timedelta(days=31))
        )
    await book.learn()
    assert only(book).expired
    book.turn(*repaired("again"))
    await book.learn()
    assert not only(book).expired


async def test_a_person_rewords_and_deletes_lessons(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    told = []
    hint = await taught(book)
    stop = book.learning.changed.subscribe(lambda: told.append("changed"))
    edited = await book.learning.edit(hint.id, " when doubling ", "Add it to itself.\u202e")
    assert (edited.trigger, edited.advice, edited.evidence) == (
        "when doubling",
        "Add it to itself.\\u202e",
        only(book).evidence,
    )
    await book.learning.remove(hint.id)
    assert (book.book.lessons(), told) == ((), ["changed", "changed"])
    with pytest.raises(RequestError):
        await book.learning.edit(hint.id, "trigger", "advice")
    with pytest.raises(RequestError):
        await book.learning.remove("\0")
    stop()


async def test_a_deleted_lesson_does_not_come_back_from_the_same_evidence(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    hint = await taught(book)
    await book.learning.remove(hint.id)
    assert (await book.learn(), book.book.lessons()) == ([], ())


async def test_trouble_with_the_lessons_fails_no_turn(database, caplog):
    book = Notebook(database, reply(lesson("Multiply.")))
    await taught(book)
    with writing(book.database) as connection:
        connection.exec_driver_sql("DROP TABLE lesson_evidence")
    assert await book.learning.recall()("implement", "anything") == ()
    assert "the lessons for implement can't be looked up" in caplog.text


async def test_closing_gives_up_what_is_being_looked_at(database):
    book = Notebook(database, reply(lesson("Multiply.")))
    turn = book.turn(*repaired())
    book.learning.begin(turn)
    await book.learning.aclose()
    assert book.model.asked() == []
    book.learning.begin(turn)
    await book.learning.settle()
    assert only(book).evidence == (turn,)


async def test_what_a_wrong_answer_taught_is_withdrawn_unless_another_turn_teaches_it(database):
    book = Notebook(database, reply(lesson("Multiply.")), reply(lesson("Add."), lesson("multiply")))
    first, second = (book.turn(*repaired(number)) for number in "12")
    await book.learn()
    assert {one.advice: one.evidence for one in book.book.lessons()} == {
        "Multiply.": (first, second),
        "Add.": (second,),
    }
    book.turn(AnswerCorrected(tool="double_number", version=2, turn_id=second))
    assert {one.advice: one.evidence for one in book.book.lessons()} == {"Multiply.": (first,)}
    unexamined = book.turn(*repaired("3"))
    book.turn(AnswerCorrected(tool="double_number", version=3, turn_id=unexamined))
    assert await book.learn() == []
