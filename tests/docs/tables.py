"""The generated parts of the documents: cog writes them between its marks, `make docs` renews all
of them.

`python -m tests.docs.tables` prints `.env.example`.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_args

from flask import Flask
from pydantic import BaseModel, SecretStr
from typer.main import get_command

from selfeng.autocoder import ProjectOptions
from selfeng.cli.app import app
from selfeng.core.events import Event
from selfeng.core.places import HOME
from selfeng.core.stage import STAGES
from selfeng.engine import Engine
from selfeng.graph.turn_graph import turn_graph
from selfeng.projects.actions import ProjectAction
from selfeng.projects.project_context import CodeFile, Context
from selfeng.settings import Settings
from web.app import add_rest_routes
from web.bridge import Bridge
from web.operations import Operation
from web.operations import operations as rest_operations
from web.uploads import Uploads

T = TypeVar("T")

SECTIONS = {
    "openai_api_key": "Model",
    "turn_max_calls": "Budget of one turn",
    "similarity_threshold": "Tools",
    "lessons_learn": "Lessons",
    "sandbox": "Sandbox",
    "files_max_count": "Files",
    "chroma_persist_dir": "Folders",
    "flask_host": "Page",
}
"""The settings that begin a section of `.env.example`."""
_TOKENS = Path(__file__).parents[2] / "web" / "static" / "css" / "tokens.css"
_SCALES = {
    "type": "text-",
    "space": "space-",
    "controls": "control|target",
    "radius": "radius-",
    "motion": "quick|calm|turning",
}
"""The tokens of each row of the page's table, by how their names begin."""


def commands() -> str:
    """A row for each command and subcommand: how it is called, what it does, its options."""
    rows = [
        (f"`{_usage(path, command)}`", _cell(_one_line(command.help) + _options(command)))
        for path, command in _walk(get_command(app), "selfeng")
    ]
    return _table(("command", "what it does"), rows)


def tokens() -> str:
    """A row for each scale of the page's tokens."""
    declared = re.findall(
        r"^  --([\w-]+): ([^;]+);", _TOKENS.read_text("utf-8").partition("\n}\n")[0], re.MULTILINE
    )
    rows = {
        kind: [(name, value) for name, value in declared if re.match(names, name)]
        for kind, names in _SCALES.items()
    }
    return _table(
        ("tokens", "values"),
        (
            (
                " ".join(f"`--{name}`" for name, _ in row),
                ", ".join(_pixels(value) for _, value in row),
            )
            for row in rows.values()
        ),
    )


def settings() -> str:
    return _table(
        ("setting and default", "meaning"),
        ((f"`{name.upper()}={default}`", _cell(told)) for name, default, told in _fields(Settings)),
    )


def operations() -> str:
    """A row for each operation of the REST API, with the fields of what it takes."""
    app = Flask("documents")
    add_rest_routes(app, _nothing(Bridge), _nothing(Engine), Uploads())
    return _table(
        ("operation", "what it does", "takes"),
        (
            (
                f"`{method} {_address(rule.rule)}`",
                _cell(_one_line(one.text)),
                ", ".join(_taken(one)),
            )
            for rule, method, one in rest_operations(app)
        ),
    )


def _nothing(kind: type[T]) -> T:
    """In place of what the routes would use if they were called."""
    return cast(T, SimpleNamespace(configuration=None))


def _address(rule: str) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def _taken(one: Operation) -> Iterator[str]:
    for name, field in one.query.model_fields.items() if one.query else ():
        yield f"`?{field.alias or name}`"
    for name in one.body.model_fields if one.body else ():
        yield f"`{name}`"
    if one.takes:
        yield "the content"


def options() -> str:
    """A row for each option of a build."""
    return _table(
        ("option", "default", "meaning"),
        (
            (f"`{name}`", f"`{default}`" if default else "", _cell(told))
            for name, default, told in _fields(ProjectOptions)
        ),
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


def graph() -> str:
    return f"```mermaid\n{turn_graph().mermaid()}```\n"


def actions() -> str:
    """A row for each action of a build."""
    rows = [
        (f"`{kind.model_fields['action'].default}`", _arguments(kind), _first_clause(kind))
        for kind in get_args(ProjectAction)
    ]
    return _table(("action", "arguments", "what it does"), rows)


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
    for name, default, told in _fields(Settings):
        if name in SECTIONS:
            lines += ["", f"# --- {SECTIONS[name]} ".ljust(100, "-")]
        lines += [
            f"# {line}"
            for line in textwrap.wrap(
                told.replace("`", ""), 98, break_long_words=False, break_on_hyphens=False
            )
        ]
        lines.append(f"{name.upper()}={default}")
    return "\n".join(lines) + "\n"


def _walk(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each command below `group`, with the words that call it."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if hasattr(command, "commands"):
            yield from _walk(command, f"{path} {name}")


def _usage(path: str, command: Any) -> str:
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    names = [argument.name.upper() + "…" * (argument.nargs == -1) for argument in arguments]
    return " ".join(
        [
            path,
            *(
                name if argument.required else f"[{name}]"
                for name, argument in zip(names, arguments, strict=True)
            ),
        ]
    )


def _options(command: Any) -> str:
    options = [
        parameter.opts[0] for parameter in command.params if parameter.param_type_name == "option"
    ]
    return f" Options: {', '.join(f'`{option}`' for option in options)}." if options else ""


def _event(event: type[BaseModel]) -> tuple[str, str, str]:
    own = [
        name
        for name in event.__annotations__
        if name != "type" and not event.model_fields[name].exclude
    ]
    return (
        f"`{event.model_fields['type'].default}`",
        _first_clause(event),
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
    told = _attribute_docstrings(model)
    for name, field in model.model_fields.items():
        bounds = {
            kind: getattr(part, kind)
            for part in field.metadata
            for kind in ("ge", "le")
            if hasattr(part, kind)
        }
        allowed = (
            f" ({bounds['ge']} to {bounds['le']})"
            if len(bounds) == 2 and "0 to 1," not in told[name]
            else ""
        )
        text = told[name].removesuffix(".")
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


def _first_clause(kind: type[Any]) -> str:
    """Of its docstring: a row of a table has room for no more."""
    text = _one_line(kind.__doc__)
    assert text, f"{kind.__name__} has no docstring"
    return _cell(re.split(r"[.:;](?: |$)", text)[0])


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    print(env_example(), end="")


def _pixels(value: str) -> str:
    """Sizes of type are written in rem, so that they follow the browser's own size."""
    number = value.removesuffix("rem")
    return f"{float(number) * 16:g}px" if number != value else value
