"""The cookbook's projects, made end to end: offline model over HTTP, real sandbox; one of them by
the command line.
"""

import pytest

from selfeng_offline.cookbook import Cookbook
from selfeng_offline.cookbook.project_recipes import projects
from tests.home import Home
from tests.projects.conftest import Bench

pytestmark = pytest.mark.bubblewrap
in_session = pytest.mark.asyncio(loop_scope="session")

MADE = {
    "melody": ("song.mid", b"MThd"),
    "csv_report": ("chart.png", b"\x89PNG"),
    "word_counter": ("main.py", b'"""Command'),
}
GOALS = {
    "melody": "Write a melody as a MIDI file",
    "csv_report": "Read a CSV file of sales and write a report with a chart",
    "word_counter": "A command line tool that counts the words of a file",
}


@in_session
@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(p, id=p.name, marks=pytest.mark.extended if p.name == "csv_report" else ())
        for p in projects()
        if p.name != "melody"
    ],
)
async def test_a_recipe_becomes_a_project(bench: Bench, recipe):
    last = await bench.build(author=Cookbook(), goal=GOALS[recipe.name])
    assert (last.type, last.summary, last.steps) == (
        "project_finished",
        recipe.summary,
        len(recipe.files) + 1 + bool(recipe.tried),
    )
    assert recipe.slip.lesson in [
        event.reasoning for event in bench.events if event.type == "project_act_chosen"
    ]
    assert {
        path: (bench.folder / "demo" / path).read_text() for path in recipe.files
    } == recipe.files
    ran = [event for event in bench.events if event.type == "project_ran"]
    assert (ran[-1].arguments, ran[-1].success) == (recipe.tried, True)
    made, beginning = MADE[recipe.name]
    assert (bench.folder / "demo" / made).read_bytes().startswith(beginning)
    again = await bench.build(author=Cookbook(), goal=GOALS[recipe.name])
    assert (again.type, again.steps) == ("project_finished", 0)


@in_session
async def test_a_goal_that_the_cookbook_does_not_know_is_given_up(bench: Bench):
    last = await bench.build(author=Cookbook(), goal="Simulate the weather")
    assert (last.type, last.kind, last.steps) == ("project_failed", "task", 0)
    assert last.message.startswith("The offline model has no recipe for this project.")


@pytest.mark.extended
def test_the_command_line_builds_a_project(tmp_path):
    home, recipe = (
        Home(tmp_path / "home", bubblewrap=True),
        next(p for p in projects() if p.name == "melody"),
    )
    built = home.run(
        "-m",
        "selfeng",
        "build",
        "--dir",
        str(tmp_path),
        "new",
        "song",
        "--goal",
        GOALS[recipe.name],
        SANDBOX="bubblewrap",
    )
    assert (built.returncode, built.stdout) == (0, ""), built.stderr
    assert "song is finished" in built.stderr
    made, beginning = MADE[recipe.name]
    assert (tmp_path / "song" / made).read_bytes().startswith(beginning)
