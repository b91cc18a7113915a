"""The command `build`: projects from the command line, by flags or by answering questions."""

import asyncio
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from selfeng.autocoder import ProjectOptions, autocoder
from selfeng.bootstrap import open_builder
from selfeng.core.errors import AgentError, RequestError
from selfeng.core.logs import log_to_stderr
from selfeng.core.project_events import ProjectFinished
from selfeng.core.visible import one_line, visible
from selfeng.projects.examining import MAIN
from selfeng.projects.state import ProjectStore, backups, restore
from selfeng.provision.parts import provision
from selfeng.settings import load_settings, make_folders

_MENU = "[n]ew  [e]dit  [r]un  [d]elete  [o]ptions  [q]uit: "

app = typer.Typer(invoke_without_command=True)


_DEFAULTS: dict[str, Any] = {name: field.default for name, field in ProjectOptions.model_fields.items()}


@app.callback()
def build(  # noqa: PLR0917 - each is a flag
    context: typer.Context,
    dir: Annotated[Path, typer.Option("--dir", help="Folder in which projects lie.")] = _DEFAULTS["project_dir"],
    log_level: Annotated[str, typer.Option(help="normal, debug or quiet, which prints nothing.")] = _DEFAULTS["log_level"],
    step: Annotated[bool, typer.Option("--step", help="Ask before each action.")] = False,
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    api_key: Annotated[str | None, typer.Option(help="Key of the model's server; OPENAI_API_KEY shows it to nobody else.")] = None,
    max_steps: Annotated[int, typer.Option(help="Actions that a build may take.")] = _DEFAULTS["max_steps"],
    max_calls: Annotated[int, typer.Option(help="Model calls that it may make.")] = _DEFAULTS["max_calls"],
    max_tokens: Annotated[int, typer.Option(help="Tokens that it may use.")] = _DEFAULTS["max_tokens"],
    max_seconds: Annotated[float, typer.Option(help="Seconds after which it makes no further model call.")] = _DEFAULTS["max_seconds"],
    max_cost: Annotated[float | None, typer.Option(help="US dollars that it may cost.")] = None,
    package: Annotated[list[str] | None, typer.Option(help="A package that it may ask for, such as requests==2.32.5.")] = None,
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
    context.obj = given
    if context.invoked_subcommand is None:
        _exit(lambda: _menu(given))


@app.command()
def new(context: typer.Context, name: str, goal: Annotated[str, typer.Option(help="What the project is to do.")]) -> None:
    """Build a new project. Exit code 1 if it is not finished."""
    _exit(lambda: _new(context.obj, name, goal))


@app.command()
def edit(
    context: typer.Context, name: str, goal: Annotated[str, typer.Option(help="What it is to do now; left out: what it was to do.")] = ""
) -> None:
    """Go on with a project: with a new goal, or after its build was stopped or killed. Exit code 1 if it is not finished."""
    _exit(lambda: _edit(context.obj, name, goal))


@app.command()
def run(context: typer.Context, name: str, arguments: Annotated[list[str] | None, typer.Argument(help="For main.py.")] = None) -> None:
    """Run the project's main.py in the sandbox, and keep the files that it makes. Its exit code is this command's."""
    _exit(lambda: _run(context.obj, name, tuple(arguments or ())))


@app.command("restore")
def restore_backup(
    context: typer.Context, name: str, backup: Annotated[int | None, typer.Argument(help="Its number; left out: the newest.")] = None
) -> None:
    """Make a project what it was before an action."""
    _exit(lambda: _restore(context.obj, name, backup))


@app.command()
def delete(context: typer.Context, name: str, yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False) -> None:
    """Delete a project with its backups."""
    _exit(lambda: _delete(context.obj, name, yes))


@app.command()
def options(context: typer.Context) -> None:
    """List the projects, and the options that are in force."""
    _exit(lambda: _options(context.obj))


def _new(given: dict[str, Any], name: str, goal: str) -> int:
    options, store = _project(given, name)
    if store.load(name) or store.workspace(name).paths():
        raise RequestError(f"there is a project {name!r} in {store.folder}", "go on with it by `build edit`, or take another name")
    return _build(options, given | {"goal": goal})


def _edit(given: dict[str, Any], name: str, goal: str) -> int:
    options, _ = _existing(given, name)
    return _build(options, given | {"goal": goal})


def _build(options: ProjectOptions, given: dict[str, Any]) -> int:
    _prepare(quiet=options.log_level == "quiet")
    return 0 if isinstance(autocoder({**given, "project_name": options.project_name}), ProjectFinished) else 1


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
            _say(told) if told else None
        return 1 if ran.exit_code is None else ran.exit_code % 256

    return asyncio.run(run())


def _restore(given: dict[str, Any], name: str, number: int | None) -> int:
    _, store = _existing(given, name)
    there = backups(store.backups(name))
    chosen = number if number is not None else int(there[-1].stem) if there else 0
    backup = store.backup(name, chosen)
    with store.claimed(name):
        restore(store.workspace(name), backup)
    _say(f"{name} is what it was before the action of backup {chosen}.")
    return 0


def _delete(given: dict[str, Any], name: str, yes: bool) -> int:
    _, store = _existing(given, name)
    if not yes and not typer.confirm(f"Delete {store.folder / name} and its backups?", err=True):
        return 1
    store.delete(name)
    _say(f"{name} is deleted.")
    return 0


def _options(given: dict[str, Any]) -> int:
    store = ProjectStore(given["project_dir"])
    for name in store.names():
        state = store.load(name)
        typer.echo(one_line(f"{name:24} {state.status if state else '':10} {state.goal if state else ''}"))
    for option, value in given.items():
        typer.echo(f"{option} = {'(hidden)' if option == 'api_key' and value else value}")
    return 0


def _menu(given: dict[str, Any]) -> int:
    """Ask what to do, and do it, until the person quits; an error ends only what was asked for."""
    while (choice := typer.prompt(_MENU, default="q", show_default=False, prompt_suffix="", err=True).strip()[:1]) != "q":
        with _told():
            match choice:
                case "n":
                    _new(given, _asked("Name"), _asked("What is it to do?"))
                case "e":
                    _edit(
                        given, _asked("Name"), typer.prompt("What is it to do now? [as before]", default="", show_default=False, err=True)
                    )
                case "r":
                    _run(given, _asked("Name"), tuple(shlex.split(_asked("Arguments", ""))))
                case "d":
                    _delete(given, _asked("Name"), yes=False)
                case "o":
                    _options(given)
                case _:
                    _say(f"{choice!r} is no choice.")
    return 0


def _asked(question: str, default: str | None = None) -> str:
    answer: str = typer.prompt(question, default=default, show_default=False, err=True)
    return answer


def _project(given: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    options = ProjectOptions.of({**given, "project_name": name})
    return options, ProjectStore(options.project_dir)


def _existing(given: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    """Raises: RequestError: nothing was built under this name."""
    options, store = _project(given, name)
    store.existing(name)
    return options, store


def _prepare(quiet: bool) -> None:
    """Set up what code runs in, where that is lacking."""
    settings = load_settings()
    make_folders(settings)
    provision(settings, (lambda line: None) if quiet else _say, ("sandbox",))


def _exit(work: Callable[[], int]) -> None:
    """Do a command's work and exit with its code; 1 after an error, which is told in a line."""
    log_to_stderr()
    code = 1
    with _told():
        code = work()
    raise typer.Exit(code)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except AgentError as error:
        _say(f"error: {error.message}" + (f"\n{error.remedy}" if error.remedy else ""))


def _say(line: str) -> None:
    typer.echo(visible(line), file=sys.stderr)
