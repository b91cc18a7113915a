"""The command `build`: projects of several files, by flags or by questions."""

import asyncio
import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from selfeng.autocoder import ProjectOptions, autocoder
from selfeng.bootstrap import open_builder
from selfeng.cli.command import errors_said, finish, say
from selfeng.core.errors import RequestError
from selfeng.core.private import make_private
from selfeng.core.project_events import ProjectFinished
from selfeng.core.visible import one_line, visible
from selfeng.projects.examining import MAIN
from selfeng.projects.state import HIDDEN, ProjectStore
from selfeng.provision.parts import provision
from selfeng.settings import load_settings, make_folders

_MENU = "[n]ew  [e]dit  [r]un  [d]elete  [o]ptions  [q]uit: "

_OPTIONS = "options.json"

app = typer.Typer(invoke_without_command=True)


_DEFAULTS: dict[str, Any] = {
    name: field.default for name, field in ProjectOptions.model_fields.items()
}
_REMEMBERED = set(_DEFAULTS) - {"project_name", "goal", "project_dir", "api_key"}


@app.callback()
def build(  # noqa: PLR0917 - each is a flag
    context: typer.Context,
    dir: Annotated[Path, typer.Option("--dir", help="Folder of the projects.")] = _DEFAULTS[
        "project_dir"
    ],
    log_level: Annotated[str, typer.Option(help="normal, debug or quiet.")] = _DEFAULTS[
        "log_level"
    ],
    step: Annotated[bool, typer.Option("--step", help="Ask before each action.")] = False,
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            help="Key of the model's server; OPENAI_API_KEY keeps it off the command line."
        ),
    ] = None,
    max_steps: Annotated[int, typer.Option(help="Most actions of a build.")] = _DEFAULTS[
        "max_steps"
    ],
    max_calls: Annotated[int, typer.Option(help="Most model calls.")] = _DEFAULTS["max_calls"],
    max_tokens: Annotated[int, typer.Option(help="Most tokens.")] = _DEFAULTS["max_tokens"],
    max_seconds: Annotated[
        float, typer.Option(help="Seconds after which no model call starts.")
    ] = _DEFAULTS["max_seconds"],
    max_cost: Annotated[float | None, typer.Option(help="Most US dollars.")] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            help="A package that the build may use, such as requests==2.32.5; repeat for more."
        ),
    ] = None,
) -> None:
    """Build a project of several files; without a subcommand, by questions."""
    given = {
        "project_dir": dir,
        "log_level": log_level,
        "step": step,
        "model": model,
        "api_key": api_key,
        "max_steps": max_steps,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_cost": max_cost,
        "packages": tuple(package or ()),
    }
    context.obj = given = given | _remembered(context, dir)
    if context.invoked_subcommand is None:
        finish(lambda: _menu(given))


@app.command()
def new(
    context: typer.Context,
    name: str,
    goal: Annotated[str, typer.Option(help="What the project should do.")],
) -> None:
    """Build a new project. Exit code 1 if it is not finished."""
    finish(lambda: _new(context.obj, name, goal))


@app.command()
def edit(
    context: typer.Context,
    name: str,
    goal: Annotated[str, typer.Option(help="The new goal; the old one by default.")] = "",
) -> None:
    """Continue a project, with a new goal or after its build was stopped. Exit code 1 if it is not
    finished.
    """
    finish(lambda: _edit(context.obj, name, goal))


@app.command()
def run(
    context: typer.Context,
    name: str,
    arguments: Annotated[list[str] | None, typer.Argument(help="For main.py.")] = None,
) -> None:
    """Run the project's main.py in the sandbox and keep the files that it makes; exit with its
    code.
    """
    finish(lambda: _run(context.obj, name, tuple(arguments or ())))


@app.command("restore")
def restore_backup(
    context: typer.Context,
    name: str,
    backup: Annotated[int | None, typer.Argument(help="Its number; the newest by default.")] = None,
) -> None:
    """Restore a project from a backup, after a backup of what is there now."""
    finish(lambda: _restore(context.obj, name, backup))


@app.command()
def delete(
    context: typer.Context,
    name: str,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Delete a project with its backups."""
    finish(lambda: _delete(context.obj, name, yes))


@app.command()
def options(context: typer.Context) -> None:
    """List the projects and the current options."""
    finish(lambda: _options(context.obj))


def _new(given: dict[str, Any], name: str, goal: str) -> int:
    options, store = _project(given, name)
    if store.load(name) or store.workspace(name).paths():
        raise RequestError(
            f"the project {name!r} exists in {store.folder}",
            "continue it with `build edit`, or use another name",
        )
    return _build(options, given | {"goal": goal})


def _edit(given: dict[str, Any], name: str, goal: str) -> int:
    options, _ = _existing(given, name)
    return _build(options, given | {"goal": goal})


def _build(options: ProjectOptions, given: dict[str, Any]) -> int:
    _prepare(quiet=options.log_level == "quiet")
    return (
        0
        if isinstance(autocoder({**given, "project_name": options.project_name}), ProjectFinished)
        else 1
    )


def _run(given: dict[str, Any], name: str, arguments: tuple[str, ...]) -> int:
    options, store = _existing(given, name)
    _prepare(quiet=False)

    async def run() -> int:
        async with open_builder(options) as builder:
            outcome = await builder.run_file(store.workspace(name), MAIN, arguments)
        ran = outcome.runs[0]
        typer.echo(visible(ran.stdout), nl=False)
        typer.echo(visible(ran.stderr), nl=False, err=True)
        for told in (ran.ended, *outcome.refused):
            say(told) if told else None
        return 1 if ran.exit_code is None else ran.exit_code % 256

    return asyncio.run(run())


def _restore(given: dict[str, Any], name: str, number: int | None) -> int:
    _, store = _existing(given, name)
    say(str(store.restore(name, number)))
    return 0


def _delete(given: dict[str, Any], name: str, yes: bool) -> int:
    _, store = _existing(given, name)
    if not yes and not typer.confirm(f"Delete {store.folder / name} and its backups?", err=True):
        return 1
    store.delete(name)
    say(f"{name} is deleted.")
    return 0


def _options(given: dict[str, Any]) -> int:
    store = ProjectStore(given["project_dir"])
    for name in store.names():
        state = store.load(name)
        typer.echo(
            one_line(f"{name:24} {state.status if state else '':10} {state.goal if state else ''}")
        )
    for option, value in given.items():
        typer.echo(f"{option} = {'(hidden)' if option == 'api_key' and value else value}")
    return 0


def _set_option(given: dict[str, Any], entered: str) -> None:
    """Set an option and remember it for the projects of this folder; an empty value is the default.

    Raises: RequestError: it can't be used, or is not remembered.
    """
    name, _, value = (part.strip() for part in entered.partition("="))
    if not name:
        return
    if name not in _REMEMBERED:
        raise RequestError(
            f"{name!r} can't be set here", f"set one of {', '.join(sorted(_REMEMBERED))}"
        )
    chosen = value.split() if name == "packages" else value or _DEFAULTS[name]
    options = ProjectOptions.of({**given, name: chosen, "project_name": "any"})
    given[name] = getattr(options, name)
    path = given["project_dir"] / HIDDEN / _OPTIONS
    make_private(path.parent)
    dump = options.model_dump(mode="json", include=_REMEMBERED, exclude_defaults=True)
    path.write_text(json.dumps(dump, indent=1), encoding="utf-8")
    say(f"{name} = {given[name]}, also from now on in {given['project_dir']}.")


def _remembered(context: typer.Context, folder: Path) -> dict[str, Any]:
    """The options that were set for the projects of a folder, without those that the command line
    gives; none if they can't be read.
    """
    kept: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        kept = dict(json.loads((folder / HIDDEN / _OPTIONS).read_bytes()))
    flags = {name: "package" if name == "packages" else name for name in _REMEMBERED & set(kept)}
    sources = {name: context.get_parameter_source(flag) for name, flag in flags.items()}
    return {name: kept[name] for name, by in sources.items() if by and by.name == "DEFAULT"}


def _menu(given: dict[str, Any]) -> int:
    """Ask what to do and do it until the person quits; an error ends only the action."""
    while (
        choice := typer.prompt(
            _MENU, default="q", show_default=False, prompt_suffix="", err=True
        ).strip()[:1]
    ) != "q":
        with errors_said():
            match choice:
                case "n":
                    _new(given, _asked("Name"), _asked("What should it do?"))
                case "e":
                    _edit(
                        given,
                        _asked("Name"),
                        typer.prompt(
                            "What should it do now? [as before]",
                            default="",
                            show_default=False,
                            err=True,
                        ),
                    )
                case "r":
                    _run(given, _asked("Name"), tuple(shlex.split(_asked("Arguments", ""))))
                case "d":
                    _delete(given, _asked("Name"), yes=False)
                case "o":
                    _options(given)
                    _set_option(given, _asked("Set, such as max_steps=10 [nothing]", ""))
                case _:
                    say(f"{choice!r} is not a choice.")
    return 0


def _asked(question: str, default: str | None = None) -> str:
    answer: str = typer.prompt(question, default=default, show_default=False, err=True)
    return answer


def _project(given: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    options = ProjectOptions.of({**given, "project_name": name})
    return options, ProjectStore(options.project_dir)


def _existing(given: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    """Raises: RequestError: the project is unknown."""
    options, store = _project(given, name)
    store.existing(name)
    return options, store


def _prepare(quiet: bool) -> None:
    """Set up the sandbox if it is missing."""
    settings = load_settings()
    make_folders(settings)
    provision(settings, (lambda line: None) if quiet else say, ("sandbox",))
