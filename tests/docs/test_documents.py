"""The documents name what exists: events, settings, commands, modules."""

import re
from pathlib import Path
from typing import get_args

from typer.main import get_command

from selfeng.cli.app import app
from selfeng.core.events import Event
from selfeng.projects.actions import PROJECT_ACTIONS
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_context import CodeFile, Context

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_event_is_documented():
    union = get_args(get_args(Event)[0])
    documented = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/events.md").read_text(), re.MULTILINE)
    assert documented == [e.model_fields["type"].default for e in union]


def test_every_command_is_documented():
    documented = re.findall(r"^\| `python -m selfeng (\w+)", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)
    assert documented == list(get_command(app).commands)


def test_the_flags_and_commands_of_builds_are_documented():
    build = get_command(app).commands["build"]
    row = next(line for line in (ROOT / "docs/commands.md").read_text().splitlines() if line.startswith("| `selfeng build"))
    flags = [flag for parameter in build.params for flag in parameter.opts if flag != "--help"]
    assert [flag for flag in flags if f"`{flag}`" not in row] == []
    assert [name for name in build.commands if f"`{name} " not in row and f"`{name}`" not in row] == []


def test_the_options_actions_and_context_of_builds_are_documented():
    text = (ROOT / "docs/projects.md").read_text()
    names = (*ProjectOptions.model_fields, *PROJECT_ACTIONS.names, *Context.model_fields, *CodeFile.model_fields)
    assert [name for name in names if f"`{name}`" not in text] == []


def test_files_and_folders_that_the_documents_name_exist():
    named = [
        (document, base / name)
        for document in DOCUMENTS
        for base, pattern in ((ROOT, r"`((?:src|web|docker|tests|docs|\.ci)/[\w./-]*)`"), (document.parent, r"\]\(((?!http)[\w./-]+)\)"))
        for name in re.findall(pattern, document.read_text())
    ]
    assert len(named) > 10
    assert [f"{document.name}: {path}" for document, path in named if not path.exists()] == []


def test_documents_name_no_registry_and_no_machine():
    for document in DOCUMENTS:
        assert not re.search(r"pypi\.org|registry\.npmjs|/work/|/root/", document.read_text()), document
