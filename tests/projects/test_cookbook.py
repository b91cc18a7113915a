"""The cookbook's projects, made by `python -m src build` end to end: offline model over HTTP, real sandbox."""

import pytest

from src.offline.cookbook.projects import PROJECTS
from tests.home import Home

pytestmark = pytest.mark.bubblewrap

MADE = {"melody": ("song.mid", b"MThd"), "csv_report": ("chart.png", b"\x89PNG"), "word_counter": ("main.py", b'"""Command')}
GOALS = {
    "melody": "Write a melody as a MIDI file",
    "csv_report": "Read a CSV file of sales and write a report with a chart",
    "word_counter": "A command line tool that counts the words of a file",
}


@pytest.mark.parametrize("recipe", PROJECTS, ids=lambda recipe: recipe.name)
def test_a_recipe_becomes_a_project(tmp_path, recipe):
    home = Home(tmp_path / "home", bubblewrap=True)
    command = ("-m", "src", "build", "--dir", str(tmp_path), "new", recipe.name, "--goal", GOALS[recipe.name])
    built = home.run(*command, SANDBOX="bubblewrap")
    assert built.returncode == 0, built.stderr
    assert built.stdout == ""
    assert f"{recipe.name} is finished" in built.stderr
    assert recipe.slip.lesson in " ".join(built.stderr.split())
    project = tmp_path / recipe.name
    assert {path: (project / path).read_text() for path in recipe.files} == recipe.sources
    made, beginning = MADE[recipe.name]
    assert (project / made).read_bytes().startswith(beginning)
