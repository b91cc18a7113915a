"""The command `selfeng build`: projects of several files, by flags or by questions."""

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
from selfeng.bootstrap import count_spent, open_builder
from selfeng.cli.command import errors_said, print_json, say
from selfeng.core.errors import RequestError
from selfeng.core.files import FileLimits
from selfeng.core.logs import log_to_stderr
from selfeng.core.private import make_private
from selfeng.core.project_events import ProjectFinished
from selfeng.core.settings import load_settings, make_folders
from selfeng.core.visible import one_line, visible
from selfeng.doors.local_files import read_files
from selfeng.projects.examining import MAIN
from selfeng.projects.state import HIDDEN, ProjectStore
from selfeng.projects.workspace import Workspace, WorkspaceFile
from selfeng.provision.parts import provision

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
    flag_options = {name: value for name, value in flags.items() if value is not None}
    folder = flag_options.get("project_dir", _DEFAULTS["project_dir"])
    stored_options: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # none if they can't be read
        stored_options = dict(json.loads((folder / HIDDEN / _OPTIONS).read_bytes()))
    remembered = {name: value for name, value in stored_options.items() if name in _REMEMBERED}
    return _DEFAULTS | remembered | flag_options


def new(option_values: dict[str, Any], name: str, goal: str) -> int:
    options, store = _project(option_values, name)
    if store.load(name) or store.workspace(name).paths():
        raise RequestError(
            f"the project {name!r} exists in {store.folder}",
            "continue it with `build edit`, or use another name",
        )
    return _build(options, option_values | {"goal": goal})


def edit(option_values: dict[str, Any], name: str, goal: str) -> int:
    options, _ = _existing(option_values, name)
    return _build(options, option_values | {"goal": goal})


def _build(options: ProjectOptions, option_values: dict[str, Any]) -> int:
    _prepare(quiet=options.log_level == "quiet")
    last = autocoder({**option_values, "project_name": options.project_name})
    count_spent(load_settings(), last.usage)
    return 0 if isinstance(last, ProjectFinished) else 1


def run(option_values: dict[str, Any], name: str, arguments: tuple[str, ...]) -> int:
    options, store = _existing(option_values, name)
    workspace = store.workspace(name)
    inside, files = _handed_over(workspace, arguments)
    _prepare(quiet=False)

    async def work() -> int:
        async with open_builder(options) as builder:
            outcome = await builder.run_file(workspace, MAIN, inside, files)
        ran = outcome.runs[0]
        typer.echo(visible(ran.stdout), nl=False)
        typer.echo(visible(ran.stderr), nl=False, err=True)
        for message in (ran.ended, *outcome.refused):
            say(message) if message else None
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
    project_files = workspace.files()
    taken_paths = {str(part) for file in project_files for part in PurePath(file.path, "_").parents}
    room = workspace.limits.size - sum(len(file.content) for file in project_files)
    split = [a.rpartition("=") if a.startswith("-") else ("", "", a) for a in arguments]
    handed: dict[str, WorkspaceFile] = {}
    for path in dict.fromkeys(path for _, _, path in split if os.path.isfile(path)):
        (file,) = read_files([Path(path)], FileLimits(count=1, size=room))
        handed[path] = WorkspaceFile(path=_free_place(file.name, taken_paths), content=file.content)
        taken_paths.add(handed[path].path)
        room -= len(file.content)
    inside = (
        option + equals + (handed[path].path if path in handed else path)
        for option, equals, path in split
    )
    return tuple(inside), tuple(handed.values())


def _free_place(name: str, taken_paths: set[str]) -> str:
    folders = (f"given-{number}/{name}" for number in count(1))
    for place in folders if name.endswith(".py") else chain([name], folders):
        if not {place, place.partition("/")[0]} & taken_paths:
            return place
    raise AssertionError("the numbers have an end")


def restore(option_values: dict[str, Any], name: str, number: int | None) -> int:
    _, store = _existing(option_values, name)
    say(str(store.restore(name, number)))
    return 0


def delete(option_values: dict[str, Any], name: str, yes: bool) -> int:
    _, store = _existing(option_values, name)
    if not yes and not typer.confirm(f"Delete {store.folder / name} and its backups?", err=True):
        return 1
    store.delete(name)
    say(f"{name} is deleted.")
    return 0


def options(option_values: dict[str, Any], *, as_json: bool = False) -> int:
    store = ProjectStore(option_values["project_dir"])
    states = {name: store.load(name) for name in store.names()}
    if as_json:
        projects = [
            {"name": name, "status": state and state.status, "goal": state and state.goal}
            for name, state in states.items()
        ]
        option_texts = {k: str(v) if isinstance(v, Path) else v for k, v in option_values.items()}
        print_json({"projects": projects, "options": option_texts | {"api_key": None}})
        return 0
    for name, state in states.items():
        typer.echo(
            one_line(f"{name:24} {state.status if state else '':10} {state.goal if state else ''}")
        )
    for option, value in option_values.items():
        typer.echo(f"{option} = {'(hidden)' if option == 'api_key' and value else value}")
    return 0


def _set_option(option_values: dict[str, Any], entered: str) -> None:
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
    new_value = value.split() if name == "packages" else value or _DEFAULTS[name]
    options = ProjectOptions.of({**option_values, name: new_value, "project_name": "any"})
    option_values[name] = getattr(options, name)
    path = option_values["project_dir"] / HIDDEN / _OPTIONS
    make_private(path.parent)
    dump = options.model_dump(mode="json", include=_REMEMBERED, exclude_defaults=True)
    path.write_text(json.dumps(dump, indent=1), encoding="utf-8")
    say(f"{name} = {option_values[name]}, also from now on in {option_values['project_dir']}.")


def menu(option_values: dict[str, Any]) -> int:
    """Ask what to do and do it until the person quits; an error ends only the action."""
    while (
        choice := typer.prompt(
            _MENU, default="q", show_default=False, prompt_suffix="", err=True
        ).strip()[:1]
    ) != "q":
        with errors_said():
            match choice:
                case "n":
                    new(option_values, _prompt("Name"), _prompt("What should it do?"))
                case "e":
                    edit(
                        option_values,
                        _prompt("Name"),
                        typer.prompt(
                            "What should it do now? [as before]",
                            default="",
                            show_default=False,
                            err=True,
                        ),
                    )
                case "r":
                    run(
                        option_values, _prompt("Name"), tuple(shlex.split(_prompt("Arguments", "")))
                    )
                case "d":
                    delete(option_values, _prompt("Name"), yes=False)
                case "o":
                    options(option_values)
                    _set_option(option_values, _prompt("Set, such as max_steps=10 [nothing]", ""))
                case _:
                    say(f"{choice!r} is not a choice.")
    return 0


def _prompt(question: str, default: str | None = None) -> str:
    answer: str = typer.prompt(question, default=default, show_default=False, err=True)
    return answer


def _project(option_values: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    options = ProjectOptions.of({**option_values, "project_name": name})
    return options, ProjectStore(options.project_dir)


def _existing(option_values: dict[str, Any], name: str) -> tuple[ProjectOptions, ProjectStore]:
    """Raises: RequestError: the project is unknown."""
    options, store = _project(option_values, name)
    store.existing(name)
    return options, store


def _prepare(quiet: bool) -> None:
    """Set up the sandbox if it is missing."""
    settings = load_settings()
    log_to_stderr(settings.log_level)
    make_folders(settings)
    provision(settings, (lambda line: None) if quiet else say, ("sandbox",))
