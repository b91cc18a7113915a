"""The documents are up to date: generated tables are current, and what the text names exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from cogapp import Cog
from typer.main import get_command

from selfeng.cli.app import app
from selfeng.core.events import Event
from selfeng.projects.actions import PROJECT_ACTIONS
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_context import CodeFile, Context

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "docs").glob("*.md"))
ROOTED = [
    ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "AGENTS", "CONTRIBUTING", "SECURITY")
]
DOCUMENTS = [*ROOTED, *CHAPTERS]
USAGE, TURNS, PROJECTS = (
    (ROOT / "docs" / name).read_text() for name in ("usage.md", "turns.md", "projects.md")
)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_generated_tables_are_current(chapter, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert Cog().main(["cog", "--check", "-I", str(ROOT), str(chapter)]) == 0, "run `make docs`"


def test_there_are_nine_chapters_and_the_readme_names_each():
    assert len(CHAPTERS) == 9
    readme = (ROOT / "README.md").read_text()
    assert [chapter.name for chapter in CHAPTERS if f"(docs/{chapter.name})" not in readme] == []


def test_every_event_is_documented():
    union = get_args(get_args(Event)[0])
    documented = re.findall(r"^\| `(\w+)` \|", TURNS.partition("\n## Events\n")[2], re.MULTILINE)
    assert documented == [e.model_fields["type"].default for e in union]


def test_every_command_is_documented():
    (listed,) = re.findall(r"^`serve`, .*$", USAGE, re.MULTILINE)
    documented = re.findall(r"`([\w-]+)`", re.sub(r" \(.*?\)", "", listed))
    assert documented == list(get_command(app).commands)
    (of_builds,) = re.findall(r"`build` \((.*?)\)", listed)
    assert re.findall(r"`([\w-]+)`", of_builds) == list(get_command(app).commands["build"].commands)


def test_the_options_actions_and_context_of_builds_are_documented():
    names = (
        *ProjectOptions.model_fields,
        *PROJECT_ACTIONS.names,
        *Context.model_fields,
        *CodeFile.model_fields,
    )
    assert [name for name in names if f"`{name}`" not in PROJECTS] == []


def test_files_and_folders_that_the_documents_name_exist():
    named = [
        (document, base / name)
        for document in DOCUMENTS
        for base, pattern in (
            (ROOT, r"`((?:src|web|docker|tests|docs|\.ci)/[\w./-]*)`"),
            (document.parent, r"\]\(((?!http)[\w./-]+)[)#]"),
        )
        for name in re.findall(pattern, document.read_text())
    ]
    assert len(named) > 10
    assert [f"{document.name}: {path}" for document, path in named if not path.exists()] == []


def test_headings_that_links_lead_to_exist():
    links = [
        (document, (document.parent / name) if name else document, anchor)
        for document in DOCUMENTS
        for name, anchor in re.findall(r"\]\(((?!http)[\w./-]*)#([\w-]+)\)", document.read_text())
    ]
    assert links
    assert [
        f"{document.name}: {target.name}#{anchor}"
        for document, target, anchor in links
        if anchor not in _anchors(target)
    ] == []


def test_tests_that_the_documents_name_exist():
    """`test_user_example_1` and short names such as `test_output` are something else."""
    tests = list((ROOT / "tests").rglob("test_*.py"))
    source = "".join(path.read_text() for path in tests)
    defined = {path.name for path in tests} | set(re.findall(r"\bdef (test_\w+)", source))
    named = {
        name
        for document in DOCUMENTS
        for name in re.findall(r"\b(test_\w+\.py|test(?:_[a-z]+){3,})`", document.read_text())
    }
    assert named
    assert sorted(named - defined) == []


def test_documents_name_no_registry_and_no_machine():
    for document in DOCUMENTS:
        assert not re.search(r"pypi\.org|registry\.npmjs|/work/|/root/", document.read_text()), (
            document
        )


def _anchors(document: Path) -> Iterator[str]:
    """Of a document's headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
