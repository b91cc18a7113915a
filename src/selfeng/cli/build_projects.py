"""What `selfeng build` does: projects of several files, by flags or by questions."""

import asyncio
import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path, PurePath
from typing import Any

import typer

from selfeng.autocoder import ProjectOptions, autocoder
from selfeng.bootstrap import open_builder
from selfeng.cli.command import errors_said, print_json, say
from selfeng.core.errors import RequestError
from selfeng.core.files import FileLimits
from selfeng.core.logs import log_to_stderr
from selfeng.core.private import make_private
from selfeng.core.project_events import ProjectFinished
from selfeng.core.visible import one_line, visible
from selfeng.doors.local_files import read_files
from selfeng.projects.examining import MAIN
from selfeng.projects.state import HIDDEN, ProjectStore
from selfeng.projects.workspace import Workspace, WorkspaceFile
from selfeng.provision.parts import provision
from selfeng.settings import load_settings, make_folders

_MENU = "[n]ew  [e]dit  [r]un  [d]elete  [o]ptions  [q]uit: "
_OPTIONS = "options.json"

_DEFAULTS: dict[str, Any] = {
    name: field.default
    for name, field in ProjectOptions.model_fields.items()
    if name not in ("project_name", "goal")
}
_REMEMBERED = set(_DEFAULTS) - {"project_dir", "api_key"}


def given_options(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The options of builds: those of the command line, then those that were set for the projects
    of this folder, then the defaults. None among the flags is not given.
    """
    told = {name: value for name, value in flags.items() if value is not None}
    folder = told.get("project_dir", _DEFAULTS["project_dir"])
    kept: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # none if they can't be read
        kept = dict(json.loads((folder / HIDDEN / _OPTIONS).read_bytes()))
    remembered = {name: value for name, value in kept.items() if name in _REMEMBERED}
    return _DEFAULTS | remembered | told


def new(given: dict[str, Any], name: str, goal: str) -> int:
    options, store = _project(given, name)
    if store.load(name) or store.workspace(name).paths():
        raise RequestError(
            f"the project {name!r} exists in {store.folder}",
            "continue it with `build edit`, or use another name",
        )
    return _build(options, given | {"goal": goal})


def edit(given: dict[str, Any], name: str, goal: str) -> int:
    options, _ = _existing(given, name)
    return _build(options, given | {"goal": goal})


def _build(options: ProjectOptions, given: dict[str, Any]) -> int:
    _prepare(quiet=options.log_level == "quiet")
    return (
        0
        if isinstance(autocoder({**given, "project_name": options.project_name}), ProjectFinished)
        else 1
    )


def run(given: dict[str, Any], name: str, arguments: tuple[str, ...]) -> int:
    options, store = _existing(given, name)
    workspace = store.workspace(name)
    inside, files = _handed_over(workspace, arguments)
    _prepare(quiet=False)

    async def work() -> int:
        async with open_builder(options) as builder:
            outcome = await builder.run_file(workspace, MAIN, inside, files)
        ran = outcome.runs[0]
        typer.echo(visible(ran.stdout), nl=False)
        typer.echo(visible(ran.stderr), nl=False, err=True)
        for told in (ran.ended, *outcome.refused):
            say(told) if told else None
        return 1 if ran.exit_code is None else ran.exit_code % 256

    return asyncio.run(work())


def _handed_over(
    workspace: Workspace, arguments: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[WorkspaceFile, ...]]:
    """The arguments as a run of the project gets them, with the files of this machine that they
    name, also as `--option=FILE`: each under its own name, or in a folder where the project has
    that name or might import it.

    Raises: RequestError: a file can't be read, or they are too large together.
    """
    own = workspace.files()
    taken = {str(part) for file in own for part in PurePath(file.path, "_").parents}
    room = workspace.limits.size - sum(len(file.content) for file in own)
    split = [a.rpartition("=") if a.startswith("-") else ("", "", a) for a in arguments]
    handed: dict[str, WorkspaceFile] = {}
    for path in dict.fromkeys(path for _, _, path in split if os.path.isfile(path)):
        (file,) = read_files([Path(path)], FileLimits(count=1, size=room))
        handed[path] = WorkspaceFile(path=_free_place(file.name, taken), content=file.content)
        taken.add(handed[path].path)
        room -= len(file.content)
    inside = (
        option + equals + (handed[path].path if path in handed else path)
        for option, equals, path in split
    )
    return tuple(inside), tuple(handed.values())


def _free_place(name: str, taken: set[str]) -> str:
    folders = (f"given-{number}/{name}" for number in count(1))
    for place in folders if name.endswith(".py") else chain([name], folders):
        if not {place, place.partition("/")[0]} & taken:
            return place
    raise AssertionError("the numbers have an end")


def restore(given: dict[str, Any], name: str, number: int | None) -> int:
    _, store = _existing(given, name)
    say(str(store.restore(name, number)))
    return 0


def delete(given: dict[str, Any], name: str, yes: bool) -> int:
    _, store = _existing(given, name)
    if not yes and not typer.confirm(f"Delete {store.folder / name} and its backups?", err=True):
        return 1
    store.delete(name)
    say(f"{name} is deleted.")
    return 0


def options(given: dict[str, Any], *, as_json: bool = False) -> int:
    store = ProjectStore(given["project_dir"])
    states = {name: store.load(name) for name in store.names()}
    if as_json:
        projects = [
            {"name": name, "status": state and state.status, "goal": state and state.goal}
            for name, state in states.items()
        ]
        shown = {k: str(v) if isinstance(v, Path) else v for k, v in given.items()}
        print_json({"projects": projects, "options": shown | {"api_key": None}})
        return 0
    for name, state in states.items():
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


def menu(given: dict[str, Any]) -> int:
    """Ask what to do and do it until the person quits; an error ends only the action."""
    while (
        choice := typer.prompt(
            _MENU, default="q", show_default=False, prompt_suffix="", err=True
        ).strip()[:1]
    ) != "q":
        with errors_said():
            match choice:
                case "n":
                    new(given, _asked("Name"), _asked("What should it do?"))
                case "e":
                    edit(
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
                    run(given, _asked("Name"), tuple(shlex.split(_asked("Arguments", ""))))
                case "d":
                    delete(given, _asked("Name"), yes=False)
                case "o":
                    options(given)
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
    log_to_stderr(settings.log_level)
    make_folders(settings)
    provision(settings, (lambda line: None) if quiet else say, ("sandbox",))
