"""The commands for versions, standing and requests, on a real library without a sandbox."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from selfeng.cli.app import app
from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from tests.home import Home
from tests.registry.drafts import REVERSE
from tests.registry.repaired import USED, prepare


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path / "home")
    for name, value in home.environment(
        SANDBOX="docker", DOCKER_HOST=f"unix://{tmp_path}/none.sock"
    ).items():
        monkeypatch.setenv(name, value)
    asyncio.run(prepare(home))
    return home


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_a_tool_is_compared_rolled_back_retired_and_restored(home: Home) -> None:
    listed = run("versions", "reverse_text").stdout.splitlines()
    assert [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", line) for line in listed] == [
        "  2  DATE  repaired: it raised KeyError  by gpt-4  1 test passed  2 model calls, 1000 "
        "tokens, $0.0125",
        "  1  DATE  created  by gpt-4",
    ]
    assert run("diff", "reverse_text", "1", "2").stdout == (
        "--- reverse_text.py\tversion 1\n+++ reverse_text.py\tversion 2\n@@ -1,2 +1,2 @@\n"
        " def reverse_text(text: str) -> str:\n-    return text\n+    return text[::-1]\n"
    )
    assert (
        run("rollback", "reverse_text", "1").stderr
        == "reverse_text is now at version 3, which equals version 1.\n"
    )
    assert (home.tools / "reverse_text.py").read_text() == REVERSE.code
    assert "selfeng restore reverse_text" in run("retire", "reverse_text").stderr
    assert run("tools").stdout.splitlines() == [
        f"{'reverse_text':32} retired     Reverse a text.",
        f"{'shout_text':32} provisional Turn a text into upper case.",
    ]
    assert run("restore", "reverse_text").stderr == "reverse_text is provisional.\n"


def test_a_request_that_a_tool_has_served_is_shown_and_removed(home: Home) -> None:
    served = [f"# has served: {request}" for request in USED]
    assert [
        line for line in run("tools", "reverse_text").stdout.splitlines() if "has served" in line
    ] == served
    assert (
        run("forget", "reverse_text", USED[0]).stderr
        == "reverse_text keeps 1 learned request of the command line.\n"
    )
    assert [
        line for line in run("tools", "reverse_text").stdout.splitlines() if "has served" in line
    ] == served[1:]
    refused = run("forget", "reverse_text", USED[0])
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"error: reverse_text has learned no request {USED[0]!r} of yours\n"
        "`selfeng tools reverse_text` lists those asked at the terminal\n",
    )


@pytest.mark.parametrize("other", ["somebody", "terminal "], ids=["a visitor", "a similar name"])
def test_what_one_person_asked_is_shown_to_nobody_else_and_removed_by_nobody_else(
    tmp_path: Path, home: Home, other: str
) -> None:
    elsewhere = Home(tmp_path / "elsewhere")
    asyncio.run(prepare(elsewhere, other))
    journal = Journal(open_database(f"sqlite:///{elsewhere.folder / 'data' / 'agent.db'}"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in elsewhere.environment(
            SANDBOX="docker", DOCKER_HOST="unix:///none"
        ).items():
            patch.setenv(name, value)
        shown = run("tools", "reverse_text").stdout
        assert shown.startswith("# reverse_text(")
        assert "has served" not in shown
        assert [request for request in USED if request in shown] == []
        assert "has learned no request" in run("forget", "reverse_text", USED[0]).stderr
    assert journal.said(other, USED) == set(USED)
    assert journal.said("terminal", USED) == set()


def test_an_example_that_somebody_had_asked_before_is_theirs_alone(home: Home) -> None:
    journal = Journal(open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}"))
    mine, yours = (journal.create_conversation(owner, "t") for owner in ("me", "you"))
    journal.begin_turn(mine, "what is my pin 1234 backwards?")
    journal.begin_turn(yours, "what I both asked")
    journal.begin_turn(mine, "what I both asked")
    examples = ("what is my pin 1234 backwards?", "what I both asked", "reverse a word")
    assert journal.said_by_others("you", examples).keys() == {"what is my pin 1234 backwards?"}
    assert journal.said_by_others("me", examples) == {}
    first = journal.said_by_others("them", examples)
    assert first.keys() == set(examples[:2])
    assert first[examples[0]] < first[examples[1]] < datetime.now(UTC)


def test_everything_is_backed_up_and_restored_by_command(home: Home, tmp_path: Path) -> None:
    backup = tmp_path / "all.tar.gz"
    assert f"Wrote {backup}, " in run("backup", str(backup)).stderr
    run("retire", "reverse_text")
    said = run("restore", str(backup))
    assert "2 tools, 0 lessons. What was there before is in " in said.stderr, said.stderr
    assert "reverse_text" in run("tools").stdout
    assert "retired" not in run("tools").stdout
    missing = run("restore", str(tmp_path / "missing.tar.gz"))
    assert missing.exit_code == 1
    assert "name a file that `selfeng backup` wrote" in missing.stderr
