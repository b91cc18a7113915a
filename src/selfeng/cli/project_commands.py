"""The command `build`: projects of several files, by flags or by questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from selfeng.cli.command import AsJson, example, finish

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The project.")]


@app.callback(
    epilog=example(
        'selfeng build new counter --goal "A command line tool that counts words"',
        "selfeng build run counter README.md",
        "selfeng build",
    )
)
def build(  # noqa: PLR0917 - each is a flag
    context: typer.Context,
    project_dir: Annotated[
        Path | None,
        typer.Option("--dir", help="Folder of the projects.", show_default="projects"),
    ] = None,
    log_level: Annotated[
        str | None, typer.Option(help="normal, debug or quiet.", show_default="normal")
    ] = None,
    step: Annotated[bool | None, typer.Option("--step", help="Ask before each action.")] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model.")] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            help="Key of the model's server; OPENAI_API_KEY keeps it off the command line."
        ),
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(help="Most actions of a build.", show_default="30")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(help="Most model calls.", show_default="60")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Most tokens.", show_default="600000")
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Seconds after which no model call starts.", show_default="1800.0"),
    ] = None,
    max_cost: Annotated[float | None, typer.Option(help="Most US dollars.")] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            help="A package that the build may use, such as requests==2.32.5; repeat for more."
        ),
    ] = None,
) -> None:
    """Build a project of several files; without a subcommand, by questions."""
    context.obj = {
        "project_dir": project_dir,
        "log_level": log_level,
        "step": step,
        "model": model,
        "api_key": api_key,
        "max_steps": max_steps,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "max_cost": max_cost,
        "packages": tuple(package) if package else None,
    }
    if context.invoked_subcommand is None:
        _do(context, "menu")


@app.command(epilog=example('selfeng build new counter --goal "A tool that counts words"'))
def new(
    context: typer.Context,
    name: Name,
    goal: Annotated[str, typer.Option(help="What the project should do.")],
) -> None:
    """Build a new project. Exit code 1 if it is not finished."""
    _do(context, "new", name, goal)


@app.command(epilog=example('selfeng build edit counter --goal "Count lines, too"'))
def edit(
    context: typer.Context,
    name: Name,
    goal: Annotated[str, typer.Option(help="The new goal; the old one by default.")] = "",
) -> None:
    """Continue a project, with a new goal or after its build was stopped. Exit code 1 if it is not
    finished.
    """
    _do(context, "edit", name, goal)


@app.command(
    epilog=example(
        "selfeng build run counter ~/notes.txt", "selfeng build run counter -- --file=a.csv"
    )
)
def run(
    context: typer.Context,
    name: Name,
    arguments: Annotated[
        list[str] | None, typer.Argument(help="For main.py; those that name files hand these over.")
    ] = None,
) -> None:
    """Run the project's main.py in the sandbox, with the files that the arguments name, and keep
    the files that it makes or changes in the project; exit with its code.
    """
    _do(context, "run", name, tuple(arguments or ()))


@app.command(
    "restore", epilog=example("selfeng build restore counter", "selfeng build restore counter 2")
)
def restore_backup(
    context: typer.Context,
    name: Name,
    backup: Annotated[int | None, typer.Argument(help="Its number; the newest by default.")] = None,
) -> None:
    """Restore a project from a backup, after a backup of what is there now."""
    _do(context, "restore", name, backup)


@app.command(epilog=example("selfeng build delete counter --yes"))
def delete(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Delete a project with its backups."""
    _do(context, "delete", name, yes)


@app.command(epilog=example("selfeng build options", "selfeng build --dir work options --json"))
def options(context: typer.Context, *, json: AsJson = False) -> None:
    """List the projects and the current options."""
    _do(context, "options", as_json=json)


def _do(context: typer.Context, what: str, *arguments: Any, **flags: Any) -> None:
    """Do what the function of this name in `build_projects` does."""

    def work() -> int:
        from selfeng.cli import build_projects

        act: Callable[..., int] = getattr(build_projects, what)
        return act(build_projects.given_options(context.obj), *arguments, **flags)

    finish(work)
