"""The command line: serve the page, ask, look at the library, set up, and check each part."""

import gc
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from selfeng.cli import (
    lesson_commands,
    library_commands,
    mcp_command,
    project_commands,
    result_commands,
    setup_commands,
    turn_commands,
    worker_command,
)
from selfeng.core.leaving import run_and_exit

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"selfeng {version('selfeng')}")
        raise typer.Exit


@app.callback(help=__doc__)
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options that stand before the command."""


@app.command()
def serve() -> None:
    """Set up what is missing, serve the page until Ctrl-C or SIGTERM, and print the link that opens
    it. Exit code 1 if the address or a folder can't be used.
    """
    gc.disable()  # as `python web/app.py` does, until it serves
    from web.app import main as serve_page

    raise typer.Exit(serve_page())


for commands in (
    turn_commands,
    result_commands,
    library_commands,
    lesson_commands,
    setup_commands,
    worker_command,
    mcp_command,
):
    app.add_typer(commands.app)
app.add_typer(project_commands.app, name="build")


def main() -> NoReturn:
    """The program `selfeng`; several words instead of a command are a request: `selfeng "What is 15
    percent of 300?"`.
    """
    arguments = sys.argv[1:]
    run_and_exit(
        lambda: app(
            ["ask", *arguments] if arguments and " " in arguments[0] else arguments,
            prog_name="selfeng",
        )
    )


def self_test(part: str) -> None:
    """The program of `python src/<part>.py`: run `check`, then end the process."""
    run_and_exit(lambda: app(["check", part], prog_name="selfeng"))
