"""CSV in, plot out, on the real thing: offline model, sandbox, database and page's routes; and
again after a restart.
"""

import json
from pathlib import Path

import pytest

from selfeng.core.events import Event, FilesMade
from selfeng.core.files import File
from selfeng.python import Agent
from tests.home import Home

pytestmark = [pytest.mark.bubblewrap, pytest.mark.timeout(240)]

CSV = "day,price,sold\n2024-01-01,3,10\n2024-01-02,5,12\n2024-01-03,4,9\n"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    """On bubblewrap, which starts fastest; `tests/sandbox/test_files.py` takes files through every
    backend.
    """
    return Home(tmp_path_factory.mktemp("home") / "engine", bubblewrap=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "data.csv").write_text(CSV)
    return folder


@pytest.fixture(scope="module")
def plotted(home, folder):
    """The first request, which builds a tool, and leaves a plot."""
    given, out = str(folder / "data.csv"), str(folder / "out")
    return home.run(
        "-m",
        "selfeng",
        "ask",
        "Plot column price against day of data.csv",
        "--file",
        given,
        "--output",
        out,
        "--json",
        patience=220,
        SANDBOX="bubblewrap",
    )


def events(asked) -> list[dict]:
    assert asked.returncode == 0, asked.stderr
    return [json.loads(line)["event"] for line in asked.stdout.splitlines()]


@pytest.mark.extended
def test_a_plot_is_built_drawn_and_written(plotted, folder):
    told = {e["type"]: e for e in events(plotted)}
    assert [f["name"] for f in told["turn_started"]["files"]] == ["data.csv"]
    assert told["executing"]["tool"] == "plot_csv_columns"
    assert json.loads(told["executing"]["arguments"]) == {
        "path": "data.csv",
        "x": "day",
        "y": "price",
    }
    assert [(f["name"], f["media_type"]) for f in told["files_made"]["files"]] == [
        ("plot.png", "image/png")
    ]
    assert "contents" not in plotted.stdout
    assert plotted.stderr.splitlines()[-1] == f"written: {folder}/out/plot.png"
    assert (folder / "out" / "plot.png").read_bytes()[:8] == PNG


@pytest.mark.extended
def test_the_next_process_goes_on_with_the_files_of_the_conversation(home, folder, plotted):
    conversation = json.loads(plotted.stdout.splitlines()[0])["conversation_id"]
    more = ("--conversation", conversation, "--output", str(folder / "out"))
    summed = home.run(
        "-m", "selfeng", "ask", "Sum column sold of data.csv", *more, SANDBOX="bubblewrap"
    )
    assert summed.returncode == 0, summed.stderr
    assert "adds up to 31" in summed.stdout
    again = home.run(
        "-m",
        "selfeng",
        "ask",
        "Plot column sold against day of data.csv",
        *more,
        SANDBOX="bubblewrap",
    )
    assert "found plot_csv_columns" in again.stderr
    assert "made plot.png" in again.stderr
    assert (folder / "out" / "plot-1.png").read_bytes()[:8] == PNG


@pytest.mark.everywhere
def test_a_file_that_is_not_there_is_said_by_the_tool(home, plotted):
    asked = home.run(
        "-m",
        "selfeng",
        "ask",
        "Plot column price against day of elsewhere.csv",
        SANDBOX="bubblewrap",
    )
    assert asked.returncode == 1
    assert "there is no file 'elsewhere.csv'" in asked.stdout


def test_files_that_cannot_be_read_end_the_command(home, folder):
    asked = home.run(
        "-m", "selfeng", "ask", "Chart this CSV", "--file", str(folder / "nothing.csv")
    )
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr.startswith("error: ")
    assert "nothing.csv does not exist" in asked.stderr


@pytest.mark.extended
def test_python_programs_give_and_get_files(home, plotted, monkeypatch):
    for name, value in home.environment(SANDBOX="bubblewrap").items():
        monkeypatch.setenv(name, value)
    heard: list[Event] = []
    with Agent() as agent:
        last = agent.process_request(
            "Plot column price against day of 'my data.csv'",
            heard.append,
            files=[File(name="my data.csv", content=CSV.encode())],
        )
    assert last.answer == "Here is `price` against `day`."
    (made,) = [e for e in heard if isinstance(e, FilesMade)]
    assert [(f.name, f.content[:8]) for f in made.contents] == [("plot.png", PNG)]
    assert made.files[0] == made.contents[0].reference()
