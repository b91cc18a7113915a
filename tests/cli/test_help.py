"""The commands before one runs: help, completion, and how words become one."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from selfeng.cli import setup_commands
from selfeng.cli.app import app
from selfeng.cli.part_checks import CHECKS
from selfeng.engine import AGENTS
from selfeng.projects.options import ProjectOptions
from selfeng.provision.parts import PARTS
from tests.home import Home

HEAVY = (
    "pydantic", "sqlalchemy", "openai", "chromadb", "numpy", "onnxruntime", "docker", "mcp", "rich",
    "jinja2", "flask", "eventlet", "httpx", "selfeng.bootstrap", "selfeng.engine",
    "selfeng.core.settings",
)  # fmt: skip
_IMPORTED = f"""
import sys
from selfeng.cli.app import app
try:
    app(sys.argv[1:], prog_name="selfeng")
except SystemExit as end:
    print("exit", end.code)
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def _walk(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each command below `group`, with the words that call it."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if hasattr(command, "commands"):
            yield from _walk(command, f"{path} {name}")


COMMANDS = dict(_walk(get_command(app), "selfeng"))


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [(("--help",), []), (("--version",), []), (("build", "new", "--help"), ["pydantic"])],
)
def test_help_imports_nothing_heavy(arguments, needed):
    """Typer itself reads the options before a subcommand by pydantic."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["exit 0", str(needed)]


def test_importing_the_package_is_light():
    code = f"import sys, selfeng; print([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_explains_itself_with_an_example_that_can_be_typed(path):
    command = COMMANDS[path]
    assert command.help
    assert [p.name for p in command.params if not p.help] == []
    _, marked, examples = command.epilog.partition("\b\nExample:\n")
    assert marked
    for line in filter(None, examples.splitlines()):
        words = shlex.split(line.rpartition("| ")[2])
        first = words.index("selfeng")
        get_command(app).make_context("selfeng", words[first + 1 :], resilient_parsing=True)


def test_what_help_says_of_other_parts_is_true():
    assert tuple(PARTS) == setup_commands._PARTS
    assert tuple(CHECKS) == setup_commands._CHECKED
    (agent,) = (p for p in COMMANDS["selfeng ask"].params if p.name == "agent")
    assert agent.help.endswith(f": {' or '.join(AGENTS)}.")
    defaults = {
        p.name: p.show_default
        for p in COMMANDS["selfeng build"].params
        if isinstance(p.show_default, str)
    }
    assert defaults == {
        name: str(ProjectOptions.model_fields[name].default)
        for name in ("project_dir", "log_level", "max_steps", "max_calls", "max_tokens",
                     "max_seconds")
    }  # fmt: skip


def parsed(*arguments: str) -> tuple[str | None, list[str]]:
    """The command that the words call, and what it gets."""
    context = get_command(app).make_context("selfeng", list(arguments))
    return context._protected_args[0], context.args


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (("What is 15 percent of 300?",), ("ask", ["What is 15 percent of 300?"])),
        (("Hello!", "--json"), ("ask", ["Hello!", "--json"])),
        (("-",), ("ask", ["-"])),
        (("--file", "a.csv", "Sum it"), ("ask", ["--file", "a.csv", "Sum it"])),
        (("--json", "Hello!"), ("ask", ["--json", "Hello!"])),
        (("tools", "--json"), ("tools", ["--json"])),
    ],
)
def test_what_is_no_command_is_a_request(arguments, called):
    assert parsed(*arguments) == called


def test_a_misspelt_command_is_no_request():
    done = CliRunner().invoke(app, ["tolls"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No such command 'tolls'. Did you mean 'tools'?" in done.stderr


def test_without_arguments_the_help_is_shown():
    done = subprocess.run(
        [sys.executable, "-m", "selfeng"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr[:14]) == (2, "Usage: selfeng")


def complete(words: str, home: Home) -> list[str]:
    """The completions that bash gets for these words."""
    done = CliRunner().invoke(
        app,
        [],
        env={
            **home.environment(),
            "_ROOT_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
    )
    return done.stdout.split()


def test_a_shell_completes_commands_tools_and_parts(tmp_path):
    home = Home(tmp_path)
    home.tools.mkdir()
    for name in ("count_words", "test_count_words", "count_lines", "slugify_text"):
        (home.tools / f"{name}.py").touch()
    assert complete("selfeng ver", home) == ["versions", "verify", "verify-receipt"]
    assert complete("selfeng call count", home) == ["count_lines", "count_words"]
    assert complete("selfeng check s", home) == ["sandbox", "synthesis_engine"]
    assert complete("selfeng ask --conversation ", home) == []
    assert not (tmp_path / "data" / "agent.db").exists()


def test_completion_can_be_shown_and_installed():
    options = {name for p in get_command(app).params for name in p.opts}
    assert {"--install-completion", "--show-completion", "--version"} <= options
