"""When schedules are due, and which of their runs need a person."""

from datetime import UTC, datetime, timedelta

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.events import (
    Event,
    ExecutionFailed,
    ExecutionFinished,
    Outcome,
    QuestionsAsked,
    ToolStandingChanged,
    TurnFailed,
    TurnFinished,
    TurnStopped,
    Witnessed,
)
from selfeng.core.question import Question
from selfeng.core.schedule import Missed, SchedulePlan, local_zone
from selfeng.core.verdict import Killed, Raised
from selfeng.stages.ending import problem_of
from tests.doubles import returned

MONDAY = datetime(2026, 11, 30, 7, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def plan(cron: str, timezone: str = "UTC", missed: Missed = "once") -> SchedulePlan:
    return SchedulePlan(tool="add", cron=cron, timezone=timezone, missed=missed)


def test_times_are_those_of_the_time_zone_on_both_sides_of_a_change_of_the_clock() -> None:
    in_berlin = plan("0 8 * * mon", "Europe/Berlin")
    summer = in_berlin.next_due(datetime(2026, 10, 13, tzinfo=UTC))
    assert summer == datetime(2026, 10, 19, 6, tzinfo=UTC)
    assert in_berlin.next_due(summer) == datetime(2026, 10, 26, 7, tzinfo=UTC)


def test_a_set_hour_comes_once_when_the_clock_is_set_back_and_any_hour_twice() -> None:
    before = datetime(2026, 10, 24, 12, tzinfo=UTC)
    night = plan("30 2 * * *", "Europe/Berlin", "all")
    first = night.next_due(before)
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert night.next_due(first) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    assert night.due_now(first, first + 2 * DAY) == (first, first + DAY + timedelta(hours=1))
    hourly = plan("30 * * * *", "Europe/Berlin")
    assert hourly.next_due(first) == first + timedelta(hours=1)


@pytest.mark.parametrize(
    ("missed", "made_up_for"),
    [("skip", []), ("once", [2]), ("all", [0, 1, 2])],
)
def test_what_was_missed_is_skipped_or_made_up_for(missed: Missed, made_up_for: list[int]) -> None:
    daily = plan("0 7 * * *", missed=missed)
    moments = daily.due_now(MONDAY, MONDAY + 2 * DAY + timedelta(hours=1))
    assert moments == tuple(MONDAY + days * DAY for days in made_up_for)


@pytest.mark.parametrize("missed", ["skip", "once", "all"])
def test_what_is_due_is_begun_also_a_moment_late(missed: Missed) -> None:
    daily = plan("0 7 * * *", missed=missed)
    for late in (0, 1, 59):
        assert daily.due_now(MONDAY, MONDAY + timedelta(seconds=late)) == (MONDAY,)


def test_of_too_many_missed_runs_the_newest_are_made_up_for() -> None:
    moments = plan("* * * * *", missed="all").due_now(MONDAY, MONDAY + 30 * DAY)
    minute = timedelta(minutes=1)
    assert moments == tuple(MONDAY + 30 * DAY - n * minute for n in reversed(range(100)))


@pytest.mark.parametrize(
    ("cron", "timezone", "words"),
    [
        ("every monday", "UTC", "cron 'every monday': "),
        ("61 * * * *", "UTC", "cron '61 * * * *': "),
        ("0 0 30 2 *", "UTC", "failed to find next date"),
        ("0 8 * * *", "Mars/Phobos", "unknown time zone 'Mars/Phobos'"),
        ("0 8 * * *", "../etc/passwd", "unknown time zone"),
        ("0 8 * * *", "", "unknown time zone ''"),
    ],
)
def test_wrong_times_are_named_with_a_remedy(cron: str, timezone: str, words: str) -> None:
    with pytest.raises(RequestError) as raised:
        plan(cron, timezone).next_due(MONDAY)
    assert words in raised.value.message
    assert raised.value.remedy


DONE = TurnFinished(answer="It is 5.")


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([ExecutionFinished(tool="add", execution=returned("5")), DONE], ""),
        ([Witnessed(tool="add", agree=2, of=2), DONE], ""),
        (
            [ExecutionFailed(tool="add", execution=Raised(type_name="KeyError", message="'b'"))],
            "KeyError: 'b'",
        ),
        (
            [ExecutionFailed(tool="add", execution=Killed(reason="It ran too long."))],
            "It ran too long.",
        ),
        (
            [Witnessed(tool="add", agree=1, of=2, other="6"), DONE],
            "another implementation of add returns 6",
        ),
        (
            [QuestionsAsked(questions=(Question(id="network", question="May it?"),)), DONE],
            "it waits for an answer: May it?",
        ),
        (
            [
                ToolStandingChanged(
                    tool="add", before="trusted", after="suspect", reason="It changed."
                )
            ],
            "It changed.",
        ),
        ([TurnFinished(answer="The file is too large.", outcome=Outcome.FAILED)], "The file is"),
        ([TurnFailed(where="gather", message="there is no tool 'add'")], "there is no tool 'add'"),
        ([TurnStopped(reason="Stopped on request.")], "Stopped on request."),
    ],
)
def test_a_run_needs_a_person_unless_its_result_is_beyond_doubt(
    events: list[Event], problem: str
) -> None:
    assert problem_of(events).startswith(problem)
    assert bool(problem_of(events)) == bool(problem)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 8 * * mon", "every Monday at 08:00"),
        ("30 7 * * 7", "every Sunday at 07:30"),
        ("0 8 * * 1-5", "Monday to Friday at 08:00"),
        ("5 * * * *", "every hour, 5 minutes past"),
        ("30 17 * * *", "every day at 17:30"),
        ("0 9 3 * *", "on day 3 of every month at 09:00"),
        ("*/5 * * * *", "at the times '*/5 * * * *'"),
        ("0 8 1 * mon", "at the times '0 8 1 * mon'"),
        ("@daily", "at the times '@daily'"),
    ],
)
def test_times_are_said_in_words(cron: str, words: str) -> None:
    assert plan(cron, "Europe/Berlin").when == f"{words} (Europe/Berlin)"


def test_the_time_zone_of_the_machine_is_one_that_a_schedule_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert local_zone.__wrapped__() == "Europe/Berlin"
    monkeypatch.setenv("TZ", "CET-1CEST")
    assert plan("@daily", local_zone.__wrapped__()).next_due(MONDAY) > MONDAY
