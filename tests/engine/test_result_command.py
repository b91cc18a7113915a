"""The value of a turn in a terminal: drawn, printed, and written to a file."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner, Result

from selfeng.bootstrap import build_engine
from selfeng.cli.app import app
from selfeng.cli.dialogue import EXIT_CODES, show
from selfeng.cli.drawing import ROWS, draw
from selfeng.core.events import (
    Event,
    ExecutionFinished,
    PlanMade,
    Record,
    Searching,
    TurnFinished,
    TurnStopped,
)
from selfeng.core.owner import LOCAL
from selfeng.core.plan import PlannedStep
from selfeng.core.settings import Settings
from selfeng.store.journal import JournalEntry
from tests.doubles import kept
from tests.home import Home

ROWS_OF_VALUE = [{"month": n, "paid": n / 3, "to": "=bank\x1b[2J"} for n in range(1, 361)]


@pytest.fixture
def turn(tmp_path, monkeypatch) -> str:
    """The id of a turn of the command line whose tool returned a long table."""
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "120")

    async def begun() -> str:
        engine = await build_engine(Settings(_env_file=None))
        try:
            journal = engine.journal
            conversation = journal.create_conversation(LOCAL, "payments")
            turn = journal.begin_turn(conversation, "list them")
            event = ExecutionFinished(tool="t", execution=kept(json.dumps(ROWS_OF_VALUE)))
            journal.append([JournalEntry(conversation, turn, datetime.now(UTC), event)])
            return turn
        finally:
            await engine.aclose()

    return asyncio.run(begun())


def result(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["result", *arguments])


def test_the_newest_value_is_drawn_as_a_table(turn):
    drawn = result()
    assert drawn.exit_code == 0, drawn.output
    assert "0.333333" in drawn.output
    assert len(drawn.output.splitlines()) > 360
    assert "\x1b" not in drawn.output
    assert r"=bank\x1b[2J" in drawn.output


def test_a_value_is_printed_and_written_in_the_format_that_is_asked_for(turn, tmp_path):
    assert json.loads(result(turn, "--format", "json").stdout) == ROWS_OF_VALUE
    target = tmp_path / "table.csv"
    assert result(turn, "--output", str(target)).exit_code == 0
    lines = target.read_bytes().split(b"\r\n")
    assert (len(lines), lines[1]) == (362, b"1,0.3333333333333333,'=bank\x1b[2J")
    again = result(turn, "--output", str(target))
    assert (again.exit_code, (tmp_path / "table-1.csv").exists()) == (0, True)


def test_what_is_not_there_is_said(turn):
    assert "no value is kept of the turn" in result("unknown").output
    assert "it begins with ." in result("--output", ".hidden").output
    assert "unknown format 'exe'" in result("--format", "exe").output


def test_a_file_whose_ending_promises_another_format_is_refused(turn, tmp_path):
    refused = result(turn, "--output", str(tmp_path / "table.xlsx"))
    assert (refused.exit_code, list(tmp_path.glob("table*"))) == (1, [])
    assert "unknown format 'xlsx'" in refused.output
    for name, form in (("table", ()), ("table.txt", ()), ("table.md", ("--format", "text"))):
        assert result(turn, "--output", str(tmp_path / name), *form).exit_code == 0
        assert (tmp_path / name).read_text().startswith("[")


def test_below_an_answer_stand_the_first_rows(turn, capsys):
    value = kept(json.dumps(ROWS_OF_VALUE)).result
    assert value is not None
    draw(value, ROWS)
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == ROWS + 4
    assert told.err.startswith("The first 40 of a table of 360 rows and 3 columns; all of it:")


def test_figures_by_name_are_drawn_as_a_table(capsys):
    value = kept(json.dumps({f"shop {n}": n / 7 for n in range(60)})).result
    assert value is not None
    draw(value, ROWS)
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == ROWS + 4
    assert ("shop 1 " in told.out, "0.142857 " in told.out) == (True, True)
    assert told.err.startswith("The first 40 of an object of 60 members; all of it:")


def test_a_list_of_numbers_is_drawn_in_lines(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    value = kept(json.dumps([n / 2 for n in range(300)])).result
    assert value is not None
    draw(value)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 20
    assert lines[0].startswith("0, 0.5, 1, 1.5")


async def test_a_turn_shows_the_long_values_that_no_other_step_needed(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("COLUMNS", "120")
    steps = (
        PlannedStep(id="rows", request="list", needs=()),
        PlannedStep(id="sorted", request="sort", needs=("rows",)),
    )
    first, last = (json.dumps([{name: n} for n in range(90)]) for name in ("alpha", "omega"))
    events = (
        PlanMade(steps=steps),
        ExecutionFinished(tool="t", execution=kept(first), plan_step="rows"),
        ExecutionFinished(tool="t", execution=kept(last), plan_step="sorted"),
        TurnFinished(answer="They are sorted."),
    )

    class Engine:
        async def turn(self, owner, begun):
            for seq, event in enumerate(events):
                yield Record(
                    conversation_id="c", seq=seq, turn_id="t", at=datetime.now(UTC), event=event
                )

    await show(Engine(), None, json=False, output=tmp_path)
    told = capsys.readouterr().out
    assert ("alpha" in told, "omega" in told) == (False, True)


async def test_ctrl_c_shows_that_the_turn_was_stopped(capsys, tmp_path):
    def record(seq: int, event: Event) -> Record:
        return Record(conversation_id="c", seq=seq, turn_id="t", at=datetime.now(UTC), event=event)

    begun, settled = asyncio.Event(), list[bool]()
    stopped = record(2, TurnStopped(reason="You stopped it.", seconds=1))

    class Conversations:
        async def history(self, owner, conversation):
            return (stopped,) if settled and conversation == "c" else ()

    class Engine:
        conversations = Conversations()

        async def turn(self, owner, ask):
            yield record(1, Searching())
            begun.set()
            await asyncio.Event().wait()

        async def settle(self):
            settled.append(True)

    shown = asyncio.create_task(show(Engine(), None, json=True, output=tmp_path))
    await begun.wait()
    shown.cancel()
    assert EXIT_CODES[(await shown).outcome] == 5
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["event"]["type"] == "turn_stopped"
