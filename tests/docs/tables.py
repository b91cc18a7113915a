"""The generated parts of the documents: cog writes them between its marks, `make docs` renews all
of them.

`python -m tests.docs.tables` prints `.env.example`.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from itertools import starmap
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr
from typer.main import get_command

from selfeng.autocoder import ProjectOptions
from selfeng.cli.app import app
from selfeng.core.events import Event
from selfeng.core.places import HOME
from selfeng.core.project_events import ProjectEvent
from selfeng.core.settings import Settings
from selfeng.core.stage import STAGES
from selfeng.core.stage_event import StageEvent
from selfeng.core.value import Coded, Value
from selfeng.projects.actions import ProjectAction
from selfeng.projects.project_context import CodeFile, Context
from selfeng.store.retention import DATA_KINDS, UNTIL

SECTIONS = {
    "openai_api_key": "Model",
    "turn_max_calls": "Budget",
    "similarity_threshold": "Tools",
    "lessons_learn": "Lessons",
    "sandbox": "Sandbox",
    "files_max_count": "Files",
    "chroma_persist_dir": "Folders",
    "flask_host": "Page",
}
"""The settings that begin a section of `.env.example`."""


def commands() -> str:
    """The commands, each with its subcommands; the help of each describes it."""
    group: Any = get_command(app)
    return ", ".join(starmap(_command, group.commands.items())) + ".\n"


def settings() -> str:
    """A line for each setting, with its default, in the sections of `.env.example`."""
    lines = []
    for name, default, note in _fields(Settings):
        if name in SECTIONS:
            lines += ["", f"**{SECTIONS[name]}**", ""]
        lines.append(f"- `{name.upper()}={default}`: {note}")
    return "\n".join(lines) + "\n"


def stored_data() -> str:
    """A line for each kind of data that is stored."""
    going = {"all": "; deleted", "part": "; deleted where only yours", "none": ""}
    return "".join(
        f"- {kind.kind}: {UNTIL[kind.until]}{f' (`{kind.setting}`)' if kind.setting else ''}"
        f"{going[kind.deletion]}\n"
        for kind in DATA_KINDS
    )


def options() -> str:
    """A line for each option of a build, with its default."""
    return "".join(
        f"- `{name}`{f' (`{default}`)' if default else ''}: {note}\n"
        for name, default, note in _fields(ProjectOptions)
    )


def events() -> str:
    """A row for each kind of event, with the fields that it adds to those that all have."""
    return _table(("event", "when", "fields"), map(_event, get_args(get_args(Event)[0])))


def stages() -> str:
    return _table(
        ("stage", "what it does", "prompts"),
        (
            (f"`{stage.name}`", stage.does, ", ".join(f"`{name}`" for name in stage.prompts))
            for stage in STAGES.values()
        ),
    )


def actions() -> str:
    """The actions of a build, with their arguments."""
    actions = (
        f"`{kind.model_fields['action'].default}` ({_arguments(kind)})"
        for kind in get_args(ProjectAction)
    )
    return f"{', '.join(actions)}.\n"


def context() -> str:
    """The keys of a build's context, and those of a file in it."""
    of_build, of_file = (
        ", ".join(f"`{name}`" for name in kind.model_fields) for kind in (Context, CodeFile)
    )
    return f"{of_build}.\n\nEach file in `project_code` has {of_file}.\n"


def env_example() -> str:
    """The whole of `.env.example`."""
    lines = [
        "# Every setting with its default. Copy this file to .env and change what you need. The "
        "environment",
        "# wins over .env. An empty value means the default. A value that is not allowed stops "
        "the start,",
        "# and the error names it. Relative folders begin in the folder of this file.",
    ]
    for name, default, note in _fields(Settings):
        if name in SECTIONS:
            lines += ["", f"# --- {SECTIONS[name]} ".ljust(100, "-")]
        lines += [
            f"# {line}"
            for line in textwrap.wrap(
                note.replace("`", ""), 98, break_long_words=False, break_on_hyphens=False
            )
        ]
        lines.append(f"{name.upper()}={default}")
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> str:
    subcommands = [f"`{subcommand}`" for subcommand in getattr(command, "commands", ())]
    return f"`{name}`" + (f" ({', '.join(subcommands)})" if subcommands else "")


def _event(event: type[BaseModel]) -> tuple[str, str, str]:
    own = [
        name
        for base in reversed(event.__mro__[: event.__mro__.index(Value)])
        if base not in (StageEvent, ProjectEvent, Coded)
        for name in base.__annotations__
        if name != "type" and not event.model_fields[name].exclude
    ]
    return (
        f"`{event.model_fields['type'].default}`",
        _cell(_first_clause(event.__doc__)),
        ", ".join(f"`{name}`" for name in own),
    )


def _arguments(action: type[BaseModel]) -> str:
    return ", ".join(
        f"`{name}`" for name in action.model_fields if name not in ("action", "reasoning")
    )


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Name, default and docstring of each field; the docstring ends with the range where there is
    one.
    """
    notes = _attribute_docstrings(model)
    for name, field in model.model_fields.items():
        bounds = {
            kind: getattr(part, kind)
            for part in field.metadata
            for kind in ("ge", "le")
            if hasattr(part, kind)
        }
        allowed = f" ({bounds['ge']:,}–{bounds['le']:,})" if len(bounds) == 2 else ""
        text = notes[name].removesuffix(".")
        yield name, "" if field.is_required() else _default(field.default), f"{text}{allowed}."


def _default(value: Any) -> str:
    match value:
        case None | () | SecretStr():
            return ""
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case Path():
            return f"./{value.relative_to(HOME) if value.is_absolute() else value}"
        case _:
            return str(value)


def _attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(text))
            ):
                found[name] = _one_line(text)
    return found


def _first_clause(text: str | None) -> str:
    """Of a docstring or a help: a row of a table has room for no more."""
    line = _one_line(text)
    assert line, "a docstring or a help is missing"
    return re.split(r"[.:;](?: |$)", line)[0]


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    print(env_example(), end="")
