"""A turn in a terminal: what it has spent, and what it was shown."""

import json

import pytest

from selfeng.cli.dialogue import EXIT_CODES
from selfeng.cli.terminal import Terminal, spent
from selfeng.core.events import (
    AnswerToken,
    BudgetSpent,
    Executing,
    ExecutionFinished,
    LessonsShown,
    Limits,
    Outcome,
    SynthesisStep,
    ThoughtAloud,
    TurnFailed,
    TurnFinished,
    Usage,
)
from selfeng.core.lesson import LessonHint
from tests.doubles import kept

USAGE = Usage(calls=3, input_tokens=1500, output_tokens=500)


def test_what_was_spent_stands_beside_its_limits():
    assert (
        spent(BudgetSpent(usage=USAGE, limits=Limits(), seconds=12.34))
        == "12.3 of 600 s · 3 of 40 model calls · 2,000 of 400,000 tokens"
    )
    costly = USAGE.model_copy(update={"cost": 0.01234})
    assert spent(BudgetSpent(usage=costly, limits=Limits(), seconds=1)).endswith("tokens · $0.0123")
    assert spent(BudgetSpent(usage=costly, limits=Limits(cost=0.5), seconds=1)).endswith(
        "tokens · $0.0123 of $0.5"
    )


def test_steps_and_the_end_tell_the_budget_once_each_and_a_limit_what_was_reached(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    terminal = Terminal()
    for event in (
        LessonsShown(
            agent="test",
            lessons=(LessonHint(id="l", trigger="floats", advice="Use approx.\x1b[2J"),),
        ),
        BudgetSpent(usage=USAGE, limits=Limits(), seconds=1),
        SynthesisStep(step="test", state="finished", text="4 tests"),
        SynthesisStep(step="verify", state="finished", text="4 tests"),
        TurnFailed(
            where="test",
            message="no calls left",
            remedy="ask for less",
            kind="budget",
            reached="The tests are written.",
            seconds=2,
        ),
    ):
        terminal.show(event)
    assert capsys.readouterr().err.splitlines() == [
        "done    1 lesson from earlier turns for tests:",
        "          floats: Use approx.\\x1b[2J",
        "done    tests: 4 tests",
        "        1.0 of 600 s · 3 of 40 model calls · 2,000 of 400,000 tokens",
        "done    verification: 4 tests",
        "failed  tests: no calls left",
        "        The tests are written.",
        "        ask for less  2.00 s",
        "        2.0 of 600 s · 3 of 40 model calls · 2,000 of 400,000 tokens",
    ]


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (TurnFinished(answer="It is 3."), []),
        (
            TurnFinished(answer="No.", outcome=Outcome.DECLINED, nearest=("a", "b")),
            ["declined this can't be done here: the nearest tools are a, b"],
        ),
        (
            TurnFinished(answer="No chart.", outcome=Outcome.FAILED, remedy="try again"),
            ["failed  not done: try again"],
        ),
    ],
    ids=["answered", "declined", "failed"],
)
def test_the_end_tells_an_outcome_that_is_no_answer(capsys, monkeypatch, last, told):
    monkeypatch.setenv("COLUMNS", "200")
    Terminal().show(last)
    assert capsys.readouterr().err.splitlines() == told


def test_each_outcome_has_its_own_exit_code():
    assert EXIT_CODES.keys() == set(Outcome)
    assert len({*EXIT_CODES.values()} - {2}) == len(Outcome)


def test_thoughts_stand_on_lines_of_their_own(capsys):
    terminal = Terminal()
    for event in (
        ThoughtAloud(call=1, text="Is it "),
        ThoughtAloud(call=1, text="45?\x1b[2J"),
        ThoughtAloud(call=2, text="Hm."),
        AnswerToken(text="It is 45."),
    ):
        terminal.show(event)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("It is 45.", "Is it 45?\\x1b[2J\nHm.\n")


def test_long_values_are_told_in_short_while_a_tool_runs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "2000")
    rows, terminal = json.dumps([{"n": n} for n in range(900)]), Terminal()
    terminal.show(Executing(tool="sort_rows", arguments=json.dumps({"rows": rows})))
    terminal.show(ExecutionFinished(tool="sort_rows", execution=kept(rows)))
    terminal.show(ExecutionFinished(tool="count_rows", execution=kept("900")))
    running, table, number = capsys.readouterr().err.splitlines()
    assert (len(running) < 600, running[-1]) == (True, "…")
    assert "returned a table of 900 rows and 1 column" in table
    assert "returned 900" in number
