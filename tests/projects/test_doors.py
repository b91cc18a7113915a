"""The doors for people and programs: options, the Python API, the command line."""

import io
import threading

import pytest
from typer.testing import CliRunner

from selfeng.autocoder import autocoder, start_autocoder
from selfeng.autocoder.project_terminal import ProjectTerminal, TerminalConsent
from selfeng.cli.app import app
from selfeng.core.errors import ConfigurationError, RequestError
from selfeng.core.project_events import ProjectActChosen, ProjectChanged, ProjectFinished
from selfeng.projects.state import ProjectState, ProjectStore, back_up


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"project_name": "a", "goal": "b", "golas": "c"}, "unknown option 'golas'"),
        ({"goal": "b"}, "the option 'project_name' is missing"),
        ({"project_name": "../a"}, "project_name='../a': '../a' can't be the name of a file"),
        (
            {"project_name": "a", "log_level": "loud"},
            "log_level='loud': Input should be 'normal', 'debug' or 'quiet'",
        ),
        ({"project_name": "a", "max_steps": 0}, "max_steps=0: "),
        ({"project_name": "a", "api_key": ["sk-secret"]}, "api_key=(hidden): "),
    ],
)
def test_options_that_can_not_be_used_are_named(options, problem):
    with pytest.raises(RequestError) as caught:
        start_autocoder(options)
    assert problem in caught.value.message
    assert "sk-secret" not in caught.value.message
    assert "project_dir" in caught.value.remedy


def test_a_model_without_a_server_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="there is no server for the model 'gpt-4'"):
        autocoder({"project_name": "a", "goal": "b", "project_dir": tmp_path, "model": "gpt-4"})


def test_a_build_in_a_thread_can_be_stopped_and_quiet_prints_nothing(tmp_path, capsys):
    begun = threading.Event()
    options = {
        "project_name": "a",
        "goal": "Write a melody",
        "project_dir": tmp_path,
        "log_level": "quiet",
    }
    build = start_autocoder(options, on_event=lambda event: begun.set())
    assert begun.wait(20)
    build.stop()
    build.stop()
    last = build.wait(20)
    assert (last.type, last.project, build.running) == ("project_stopped", "a", False)
    assert capsys.readouterr() == ("", "")


def test_the_terminal_shows_as_much_as_its_level_has_it(capsys):
    events = [
        ProjectChanged(
            project="a", epoch=1, path="main.py", change="edited", diff="-1\n+2\x1b\n", backup=""
        ),
        ProjectFinished(project="a", summary="Done.", steps=1),
    ]
    shown = {}
    for level in ("normal", "debug", "quiet"):
        for event in events:
            ProjectTerminal(level).show(event)
        shown[level] = capsys.readouterr().err
    assert "main.py edited" in shown["normal"]
    assert ("+2" in shown["normal"], "+2\\x1b" in shown["debug"], shown["quiet"]) == (
        False,
        True,
        "",
    )


@pytest.fixture
def command(tmp_path):
    """Runs `build` with these arguments and this input; exit code, stdout, stderr."""

    def run(*arguments: str, input: str = ""):
        result = CliRunner().invoke(app, ["build", "--dir", str(tmp_path), *arguments], input=input)
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.fixture
def store(tmp_path) -> ProjectStore:
    store = ProjectStore(tmp_path)
    store.save("demo", ProjectState(goal="print 42", status="finished"))
    store.workspace("demo").write("main.py", b"print(42)\n")
    return store


def test_the_command_line_lists_projects_and_options(command, store):
    code, out, _ = command("--max-steps", "7", "options")
    assert (code, out.splitlines()[0].split()) == (0, ["demo", "finished", "print", "42"])
    assert {"max_steps = 7", "log_level = normal", f"project_dir = {store.folder}"} <= set(
        out.splitlines()
    )


def test_names_that_are_taken_or_unknown_are_told(command, store):
    assert command("new", "demo", "--goal", "x")[2].startswith(
        f"error: the project 'demo' exists in {store.folder}\n"
    )
    assert (
        command("edit", "nothing")[2]
        == f"error: there is no project 'nothing' in {store.folder}\nthere are: demo\n"
    )
    assert command("--log-level", "loud", "new", "x", "--goal", "x")[0] == 1


def test_a_backup_is_restored_by_its_number(command, store):
    workspace = store.workspace("demo")
    back_up(workspace, store.backups("demo"))
    workspace.write("main.py", b"print(43)\n")
    back_up(workspace, store.backups("demo"))
    assert command("restore", "demo", "3")[2] == "error: demo has no backup 3\nthere are: 1, 2\n"
    workspace.write("main.py", b"print(44)\n")
    assert command("restore", "demo", "1")[::2] == (
        0,
        "demo is what it was at backup 1. What was there before is backup 3.\n",
    )
    assert workspace.read("main.py") == b"print(42)\n"
    assert command("restore", "demo")[0] == 0
    assert workspace.read("main.py") == b"print(44)\n"


ECHO = b"""
import pathlib, sys
for argument in sys.argv[1:]:
    path = pathlib.Path(argument.rpartition("=")[2])
    print(argument, path.read_text() if path.is_file() else "-")
    if path.name == "changed.txt":
        path.write_text("new")
"""


@pytest.mark.bubblewrap
def test_a_run_gets_the_files_that_its_arguments_name(command, store, tmp_path, monkeypatch):
    monkeypatch.setenv("SANDBOX", "bubblewrap")
    store.workspace("demo").write("main.py", ECHO)
    store.workspace("demo").write("README.md", b"the project's")
    store.workspace("demo").write("notes/a.txt", b"the project's")
    mine = tmp_path / "mine"
    (mine / "more").mkdir(parents=True)
    for name in ("a b.csv", "more/a b.csv", "README.md", "json.py", "notes", "changed.txt"):
        (mine / name).write_text(f"my {name}")
    monkeypatch.chdir(mine)
    files = ["a b.csv", f"{mine}/more/a b.csv", "README.md", "json.py", "notes", "changed.txt"]
    arguments = [*files, "README.md", "notes/a.txt", "missing.txt", "--file=a b.csv"]
    before = store.workspace("demo").files()
    code, out, err = command("run", "demo", "--", *arguments)
    assert (code, out.splitlines(), err) == (
        0,
        [
            "a b.csv my a b.csv",
            "given-1/a b.csv my more/a b.csv",
            "given-1/README.md my README.md",
            "given-1/json.py my json.py",
            "given-1/notes my notes",
            "changed.txt my changed.txt",
            "given-1/README.md my README.md",
            "notes/a.txt the project's",
            "missing.txt -",
            "--file=a b.csv my a b.csv",
        ],
        "",
    )
    kept = {file.path: file.content for file in store.workspace("demo").files()}
    assert kept == {file.path: file.content for file in before} | {"changed.txt": b"new"}
    assert (mine / "changed.txt").read_text() == "my changed.txt"


def test_a_file_that_a_run_can_not_get_is_named(command, store, tmp_path):
    (tmp_path / "large.bin").write_bytes(b"x" * 6_000_000)
    (tmp_path / ".hidden").write_text("x")
    for name, problem in (
        ("large.bin", f"{tmp_path}/large.bin is too large: 5.7 MB, where 5.0 MB are left"),
        (".hidden", "'.hidden' can't be the name of a file: it begins with ."),
    ):
        code, out, err = command("run", "demo", f"{tmp_path}/{name}")
        assert (code, out, err.splitlines()[0]) == (1, "", f"error: {problem}")


def test_a_project_is_deleted_after_a_question(command, store):
    assert command("delete", "demo", input="n\n")[0] == 1
    assert store.names() == ("demo",)
    assert command("delete", "demo", "--yes")[0] == 0
    assert (store.names(), (store.folder / "demo").exists()) == ((), False)


def test_without_a_command_it_asks_until_the_person_quits(command, store):
    code, out, err = command(input="o\n\ne\nnothing\n\nx\nd\ndemo\ny\nq\n")
    assert (code, "demo" in out) == (0, True)
    assert "error: there is no project 'nothing'" in err
    assert "'x' is not a choice." in err
    assert store.names() == ()


def test_options_that_are_set_in_the_menu_are_remembered(command, store):
    entered = "o\nmax_steps=7\no\npackages=requests==2.32.5 rich\no\nmax_calls=none\no\nproject_dir=/\nq\n"
    code, _, err = command(input=entered)
    assert (code, "max_steps = 7, also from now on" in err) == (0, True)
    assert "max_calls='none': Input should be a valid integer" in err
    assert "'project_dir' can't be set here" in err
    lines = command("options")[1].splitlines()
    assert {"max_steps = 7", "max_calls = 60", "packages = ['requests==2.32.5', 'rich']"} <= set(
        lines
    )
    assert "max_steps = 9" in command("--max-steps", "9", "options")[1].splitlines()
    command(input="o\nmax_steps=\nq\n")
    assert "max_steps = 30" in command("options")[1].splitlines()


def test_remembered_options_that_can_not_be_read_are_none(command, store):
    (store.folder / ".builds" / "options.json").write_text("[")
    assert "max_steps = 30" in command("options")[1].splitlines()


@pytest.mark.parametrize(
    ("entered", "decision"),
    [("\n", "act"), ("c\n", "act_on"), ("s\n", "stop"), ("what\n", "stop"), ("", "stop")],
)
async def test_the_person_at_the_terminal_is_asked(monkeypatch, capsys, entered, decision):
    monkeypatch.setattr("sys.stdin", io.StringIO(entered))
    act = ProjectActChosen(
        project="a", epoch=1, action="delete_file", arguments='{"name":"main.py"}', reasoning=""
    )
    assert await TerminalConsent().to_act(act) == decision
    assert 'delete_file {"name":"main.py"}' in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert await TerminalConsent().to_package("requests==2.32.5", "for the network")
