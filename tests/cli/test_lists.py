"""The lists that commands print, for people and for programs."""

import asyncio
import json
import subprocess
import sys
from contextlib import aclosing
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from selfeng.bootstrap import build_engine
from selfeng.cli.app import app
from selfeng.core.settings import Settings
from selfeng.store import schema
from selfeng.store.database import open_database, writing
from tests.engine.test_program import DIVIDE
from tests.home import Home


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Gives the exit code of a command and what it printed, on a library of one tool."""
    home = Home(tmp_path, bubblewrap=True)
    for name, value in home.environment().items():
        monkeypatch.setenv(name, value)

    async def add() -> None:
        async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
            await engine.library.add(DIVIDE)

    asyncio.run(add())

    def invoke(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, arguments)
        return done.exit_code, done.stdout

    return invoke


def listed(printed: tuple[int, str]):
    assert printed[0] == 0
    return json.loads(printed[1])


def test_every_list_is_printed_as_json(run):
    (tool,) = listed(run("tools", "--json"))
    assert (tool["name"], tool["signature"]) == (
        "divide",
        "divide(a: float, b: float = 2) -> dict",
    )
    assert tool["input_schema"]["required"] == ["a"]
    assert listed(run("tools", "divide", "--json"))["code"] == DIVIDE.code
    (found,) = listed(run("tools", "--search", "divide a by b", "--json"))
    assert (found["name"], 0 < found["confidence"] <= 1) == ("divide", True)
    (version,) = listed(run("versions", "divide", "--json"))
    assert version["version"] == 1
    assert listed(run("lessons", "--json")) == []
    projects = listed(run("build", "options", "--json"))
    assert (projects["projects"], projects["options"]["max_steps"]) == ([], 30)


def test_conversations_are_listed_and_found(run):
    run("ask", "Hello!")
    (conversation,) = listed(run("conversations", "--json"))
    assert conversation["title"] == "Hello!"
    code, printed = run("conversations", "hello")
    assert (code, printed.split()[0]) == (0, conversation["id"])
    assert listed(run("conversations", "nothing", "--json")) == []


def test_a_conversation_may_be_temporary_and_have_a_model(run):
    code, printed = run("ask", "Hello!", "--temporary", "--model", "other", "--json")
    assert code == 0
    assert listed(run("conversations", "--json")) == []
    mine = json.loads(printed.splitlines()[0])["conversation_id"]
    assert run("ask", "Thanks!", "--conversation", mine)[0] == 0


def test_stored_data_are_listed_and_deleted(run):
    run("ask", "Hello!")
    kinds = {kind["kind"]: kind for kind in listed(run("data", "--json"))["kinds"]}
    assert (kinds["conversations"]["count"], kinds["conversations"]["setting"]) == (1, "KEEP_DAYS")
    assert kinds["steps"]["count"] is None
    code, printed = run("data", "--delete", "--yes")
    assert code == 0
    assert "conversations         0  until deleted\n" in printed
    assert listed(run("conversations", "--json")) == []
    assert "divide" in run("tools")[1]  # nobody's request made it


def test_spending_is_shown_by_month(run):
    assert run("spending") == (0, "")
    run("ask", "Hello!")
    (month,) = listed(run("spending", "--json"))["months"]
    assert (month["turns"], month["cost"], month["reuses"]) == (1, 0.0, 0)
    code, printed = run("spending")
    assert (code, printed) == (
        0,
        f"{month['month']}  1 turn, {month['tokens']:,} tokens ($0.00); 0 reuses saved 0 tokens\n",
    )


@pytest.mark.bubblewrap
def test_what_a_tool_saved_is_shown(run):
    assert run("call", "divide", "a=6")[0] == 0
    (account,) = listed(run("spending", "--tools", "--json"))
    assert (account["tool"], account["built"], account["reuses"]) == ("divide", None, 1)
    line = f"{'divide':32} built by no turn; 1 reuse saved 0 tokens (0 s)\n"
    assert run("spending", "--tools") == (0, line)


@pytest.mark.bubblewrap
def test_a_lesson_is_replayed_once_the_person_agrees(run, tmp_path):
    code, _ = run("lessons", "--replay", "unknown")
    assert code == 1
    database = open_database(f"sqlite:///{tmp_path / 'data' / 'agent.db'}")
    specified = "<specification>\nslugify_text(text: str) -> str\n</specification>"
    text = f"=== system\nRules\n\n=== user\n{specified}\n<lessons>\n- when: do\n</lessons>"
    prompts = json.dumps([{"name": "implementation", "digest": "", "text": text}])
    row = {"id": "l1", "agent": "implement", "trigger": "when", "advice": "do", "expired": False}
    row |= dict.fromkeys(("uses", "helped", "failed"), 0) | {"weight": 0.5}
    row |= dict.fromkeys(("created_at", "updated_at"), datetime.now(UTC))
    with writing(database) as connection:
        connection.execute(schema.lessons.insert().values(**row))
        connection.execute(schema.tool_versions.update().values(prompts=prompts))
    database.dispose()
    assert run("lessons", "--replay", "l1")[0] == 1  # nobody answers the question
    (replay,) = listed(run("lessons", "--replay", "l1", "--yes", "--json"))
    assert (replay["tool"], replay["version"], replay["passed_with"]) == ("divide", 1, False)


def test_a_build_counts_in_what_is_spent(run, tmp_path):
    options = ("--dir", str(tmp_path / "projects"), "--max-steps", "1", "--log-level", "quiet")
    build = ("new", "counter", "--goal", "A command line tool that counts words")
    assert run("build", *options, *build)[0] == 1
    (month,) = listed(run("spending", "--json"))["months"]
    assert (month["turns"], month["cost"]) == (0, 0.0)
    assert month["tokens"] == 0  # the offline model uses none


def test_a_reader_that_has_ended_is_no_error(run):
    command = [sys.executable, "-m", "selfeng", "tools", "divide"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 141)
    process.stderr.close()


def test_a_secret_is_read_from_standard_input_and_listed_by_its_name(run):
    done = CliRunner().invoke(app, ["secrets", "set", "API_KEY"], input="kanarie-0123456789\n")
    assert (done.exit_code, done.stdout) == (0, "")
    ((name, readable),) = {
        (s["name"], s["readable"]) for s in listed(run("secrets", "list", "--json"))
    }
    assert (name, readable) == ("API_KEY", True)
    assert run("secrets", "list") == (0, "API_KEY\n")
    assert run("secrets", "remove", "API_KEY")[0] == 0
    assert run("secrets", "remove", "API_KEY")[0] == 1
    assert listed(run("secrets", "list", "--json")) == []


def test_a_schedule_is_added_run_and_removed(run):
    add = ("schedules", "add", "divide", "a=9", "--cron", "0 8 * * mon", "--name", "thirds")
    code, printed = run(*add, "--timezone", "Europe/Berlin")
    assert (code, printed.split()[:4]) == (0, ["thirds", "divide", "version", "1,"])
    (listed_one,) = listed(run("schedules", "list", "--json"))
    assert (listed_one["cron"], listed_one["timezone"]) == ("0 8 * * mon", "Europe/Berlin")
    assert run("schedules", "pause", "thirds")[1].rstrip().endswith("paused: paused by hand")
    assert run("schedules", "list")[0] == 0
    code, printed = run("schedules", "run", "thirds")
    assert code == 0
    assert "'quotient': 4.5" in printed
    code, printed = run("schedules", "show", "thirds")
    assert code == 0
    assert "4.5" in printed
    assert run("schedules", "resume", "thirds")[0] == 0
    assert run("schedules", "remove", "thirds") == (0, "")
    assert run("schedules", "remove", "thirds")[0] == 1


def test_a_request_for_set_times_becomes_a_schedule(run):
    code, printed = run("ask", "every Monday at 8, reverse 'abc'")
    assert (code, "every Monday at 08:00" in printed) == (3, True)
    (conversation,) = listed(run("conversations", "--json"))
    code, printed = run(
        "ask", "--conversation", conversation["id"], "--answer", "schedule=schedule"
    )
    assert (code, "now runs every Monday at 08:00" in printed) == (0, True)
    (schedule,) = listed(run("schedules", "list", "--json"))
    assert schedule["cron"] == "0 8 * * 1"
    code, printed = run("schedules", "run", schedule["name"])
    assert (code, "cba" in printed) == (0, True)


def test_a_schedule_whose_run_fails_is_paused_and_has_exit_code_1(run):
    add = ("schedules", "add", "divide", "a=9", "b=0", "--cron", "@daily")
    assert run(*add)[0] == 0
    assert run("schedules", "run", "divide")[0] == 1
    code, printed = run("schedules", "list")
    assert (code, "paused: ZeroDivisionError" in printed) == (1, True)


@pytest.mark.parametrize(
    "wrong",
    [
        ("divide", "a=9", "--cron", "soon"),
        ("divide", "a=9", "--cron", "@daily", "--timezone", "Mars"),
        ("divide", "a=9", "--cron", "@daily", "--missed", "twice"),
        ("divide", "--cron", "@daily"),
        ("divide", "--watch", "/etc"),
        ("multiply", "--cron", "@daily"),
    ],
)
def test_a_schedule_that_can_not_run_is_refused(run, wrong):
    assert run("schedules", "add", *wrong)[0] == 1
    assert listed(run("schedules", "list", "--json")) == []
