"""The command line on the real thing: offline model over HTTP, real Chroma, bubblewrap, and Docker
where that shows.
"""

import json
import re

import pytest
import requests
from typer.testing import CliRunner

from selfeng.cli.app import app
from selfeng.core.events import EVENT
from tests.home import Home, bare_home, serving

pytestmark = [pytest.mark.docker, pytest.mark.bubblewrap]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    return bare_home(tmp_path_factory.mktemp("engine"), bubblewrap=True)


@pytest.fixture(scope="module")
def built(home):
    """The first request, which builds a tool."""
    return home.run("-m", "selfeng", "ask", "Reverse the string 'hello world'", "--json")


def test_json_prints_every_event_one_object_a_line(built):
    assert (built.returncode, built.stderr) == (0, "")
    records = [json.loads(line) for line in built.stdout.splitlines()]
    assert [r["seq"] for r in records] == list(range(1, len(records) + 1))
    kinds = [EVENT.validate_python(r["event"]).type for r in records]
    assert [k for k in kinds if k != "stage_entered"][:3] == [
        "turn_started",
        "searching",
        "no_tool_found",
    ]
    assert kinds[-1] == "turn_finished"
    steps = [
        (e["step"], e["state"])
        for e in (r["event"] for r in records)
        if e["type"] == "synthesis_step" and e["state"] != "streaming"
    ]
    assert steps == [
        (step, state)
        for step in ("specify", "test", "implement", "verify", "strengthen", "register")
        for state in ("started", "finished")
    ]
    assert "dlrow olleh" in records[-1]["event"]["answer"]


@pytest.mark.extended
def test_the_kept_tool_is_run_by_the_next_process(home, built):
    again = home.run("-m", "selfeng", "ask", "Reverse 'Python'")
    assert again.returncode == 0
    assert "nohtyP" in again.stdout
    assert "found reverse_string" in again.stderr
    assert "specification" not in again.stderr


@pytest.mark.extended
def test_a_request_that_cannot_be_done_exits_with_4_and_says_why(home):
    asked = home.run("-m", "selfeng", "ask", "Compose a symphony about the sea")
    assert asked.returncode == 4
    assert "specification" in asked.stderr
    assert "offline model" in asked.stdout


@pytest.mark.extended
def test_what_is_missing_is_asked_with_the_command_that_answers(home, built):
    asked = home.run("-m", "selfeng", "ask", "Reverse a string")
    assert (asked.returncode, asked.stdout.startswith("To do this I still need:")) == (3, True)
    assert re.search(
        r"To answer: selfeng ask --conversation [0-9a-f]{32} --answer 'text=…'\n$", asked.stderr
    )


@pytest.mark.extended
def test_turns_are_looked_at_for_lessons_on_command(home, built):
    learnt = home.run("-m", "selfeng", "learn")
    assert (learnt.returncode, learnt.stdout) == (0, "")
    assert re.search(r"examined \d+ turns?\n$", learnt.stderr)


@pytest.mark.extended
def test_the_index_is_made_anew_on_command(home, built):
    made = home.run("-m", "selfeng", "reindex")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "1 tool, search with Chroma\n")


def test_the_tool_is_two_files_that_plain_pytest_passes(home, built):
    assert sorted(p.name for p in home.tools.glob("*.py")) == [
        "reverse_string.py",
        "test_reverse_string.py",
    ]
    assert "def reverse_string" in home.run("-m", "selfeng", "tools", "reverse_string").stdout


@pytest.mark.extended
def test_a_tool_is_taught_by_rows_and_edited(home, built, tmp_path):
    """A row that holds is one more test; code that passes the gate is the next version."""
    row = """{"text": "ab c"} -> "c ba\""""
    taught = home.run("-m", "selfeng", "teach", "reverse_string", row)
    assert (taught.returncode, taught.stderr) == (0, "reverse_string is now at version 2.\n")
    assert "c ba" in (home.tools / "test_reverse_string.py").read_text()
    unread = home.run("-m", "selfeng", "teach", "reverse_string", "ab -> ba")
    assert (unread.returncode, "the row 'ab -> ba' can't be read" in unread.stderr) == (1, True)

    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/return .*/return text/' \"$1\"\n")
    editor.chmod(0o755)
    wrong = home.run("-m", "selfeng", "edit", "reverse_string", EDITOR=str(editor))
    assert (wrong.returncode, "failed" in wrong.stderr) == (1, True), wrong.stderr
    editor.write_text("#!/bin/sh\necho '# looked at' >> \"$1\"\n")
    edited = home.run("-m", "selfeng", "edit", "reverse_string", EDITOR=str(editor))
    assert (edited.returncode, edited.stderr) == (0, "reverse_string is now at version 3.\n")
    assert "# looked at" in home.run("-m", "selfeng", "tools", "reverse_string").stdout
    editor.write_text("#!/bin/sh\nexit 0\n")
    same = home.run("-m", "selfeng", "edit", "reverse_string", EDITOR=str(editor))
    assert (same.returncode, same.stderr) == (0, "Nothing is changed.\n")


@pytest.mark.extended
def test_edited_tools_are_refused_until_they_are_verified_again(home, built):
    code = home.tools / "reverse_string.py"
    code.write_text(code.read_text() + "\n# edited by hand\n")
    shown = home.run("-m", "selfeng", "tools", "reverse_string")
    assert (shown.returncode, "selfeng verify reverse_string" in shown.stderr) == (1, True)
    assert home.run("-m", "selfeng", "verify", "reverse_string").returncode == 0
    assert "# edited by hand" in home.run("-m", "selfeng", "tools", "reverse_string").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", "   "), "error: the request is blank"),
        (("tools", "nothing"), "nothing"),
        (("check", "nothing"), "error: unknown part 'nothing'"),
        (("setup", "nothing"), "error: unknown part 'nothing'"),
    ],
)
def test_bad_input_is_named_in_one_line_and_exits_with_1(home, arguments, message):
    asked = CliRunner(env=home.environment()).invoke(app, arguments)
    assert (asked.exit_code, type(asked.exception)) == (1, SystemExit)
    assert message in asked.stderr
    assert "Traceback" not in asked.stderr


def test_bad_settings_stop_every_command(home):
    asked = home.run("-m", "selfeng", "ask", "hello", FLASK_PORT="high")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "FLASK_PORT='high'" in asked.stderr
    assert "Traceback" not in asked.stderr


@pytest.mark.extended
@pytest.mark.parametrize(
    "part",
    [
        "llm_client",
        "sandbox",
        pytest.param("synthesis_engine", marks=pytest.mark.everywhere),
        "orchestrator",
    ],
)
def test_each_front_door_shows_its_part_working(home, part):
    shown = home.run(f"src/{part}.py", SANDBOX="docker" if part == "sandbox" else "bubblewrap")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout


@pytest.mark.extended
def test_without_an_engine_code_is_refused_with_what_to_do(home, built, tmp_path):
    asked = home.run(
        "-m",
        "selfeng",
        "ask",
        "Reverse 'Python'",
        SANDBOX="docker",
        DOCKER_HOST=f"unix://{tmp_path}/none.sock",
    )
    assert asked.returncode == 1
    assert "execution:" in asked.stderr
    assert "Docker" in asked.stderr


def test_the_page_is_served_by_a_command(home):
    with serving(home, "-m", "selfeng", "serve") as link, requests.Session() as visitor:
        page = visitor.get(link)
        assert (page.status_code, page.url) == (200, link.partition("?")[0])
        assert "<title>Self-Engineering Agent</title>" in page.text


@pytest.mark.extended
def test_a_tool_is_carried_to_another_library(home, built, tmp_path):
    bundle = tmp_path / "friends.zip"
    assert home.run("-m", "selfeng", "export", "reverse_string", "-o", str(bundle)).returncode == 0
    again = home.run("-m", "selfeng", "export", "reverse_string", "-o", str(bundle))
    assert (again.returncode, "can't be written" in again.stderr) == (1, True)
    other = Home(tmp_path / "other", bubblewrap=True)
    asked = other.run("-m", "selfeng", "import", str(bundle))
    assert asked.returncode == 1
    assert "signed by an unknown key (SHA256:" in asked.stderr
    assert "passes the gate: reverse_string" in asked.stderr
    assert "standard input is no terminal" in asked.stderr
    key = home.run("-m", "selfeng", "keys").stdout.strip()
    assert other.run("-m", "selfeng", "keys", "trust", key, "Ada").returncode == 0
    taken = other.run("-m", "selfeng", "import", str(bundle), "--yes")
    assert taken.stderr.endswith("1 added, 0 already there, 0 refused\n"), taken.stderr
    assert "signed by Ada, whom you trust" in taken.stderr
    assert "found by: " in taken.stderr
    shown = other.run("-m", "selfeng", "tools", "reverse_string").stdout
    assert "# imported from friends.zip, signed by Ada" in shown


@pytest.mark.extended
def test_a_skill_is_written_into_a_folder_of_its_name(home, built, tmp_path):
    export = ("-m", "selfeng", "export", "reverse_string", "--as", "skill", "-o")
    for output, made in (("skills", "skills/reverse-string"), ("reverse-string", "reverse-string")):
        assert home.run(*export, str(tmp_path / output)).returncode == 0
        assert (tmp_path / made / "SKILL.md").is_file()
    taken = home.run(*export, str(tmp_path / "skills"))
    assert (taken.returncode, "exists already" in taken.stderr) == (1, True)
    assert home.run(*export, str(tmp_path / "skill.zip")).returncode == 0
