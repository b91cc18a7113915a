"""The command line: serve the page, ask, look at the library, set up, and check each part."""

import difflib
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from selfeng.cli import (
    exchange_commands,
    grant_commands,
    health_commands,
    key_commands,
    lesson_commands,
    library_commands,
    mcp_command,
    project_commands,
    schedule_commands,
    secret_commands,
    server_commands,
    setup_commands,
    turn_commands,
    worker_command,
)
from selfeng.cli.command import example
from selfeng.core.places import VERSION
from selfeng.core.process import run_and_exit

_ENDS = """\b
Exit codes:
  0    done, or answered
  1    failed; stderr says why and what to do
  2    the command line can't be understood
  3    the turn ends with questions
  4    the request is declined
  5    the turn was stopped
  130  Ctrl-C
  141  what reads stdout has ended

"""


class RequestOrCommand(TyperGroup):
    """The commands; what is none of them is a request, so that `ask` may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        asks = not ctx.resilient_parsing and self._asks(ctx, args)  # a shell completes commands
        return super().parse_args(ctx, ["ask", *args] if asks else args)

    def _asks(self, ctx: Any, args: list[str]) -> bool:
        """A word that may be a misspelt command is not a request. Without arguments, piped input is
        one.
        """
        if not args:
            from selfeng.cli.standard_input import is_piped

            return is_piped()
        if (first := args[0]) == "-" or any(map(str.isspace, first)):
            return True
        if first.startswith("-"):
            option_names = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            return first.partition("=")[0] not in option_names
        return first not in self.commands and not difflib.get_close_matches(first, self.commands)


app = typer.Typer(
    cls=RequestOrCommand,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"selfeng {VERSION}")
        raise typer.Exit


@app.callback(
    help=__doc__,
    epilog=_ENDS
    + example(
        'selfeng "What is 15 percent of 300?"', "cat request.txt | selfeng -", "selfeng ask -h"
    ),
)
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


@app.command(epilog=example("selfeng serve", "FLASK_HOST=127.0.0.1 selfeng serve"))
def serve() -> None:
    """Set up what is missing, serve the page until Ctrl-C or SIGTERM, and print the link that opens
    it. Exit code 1 if the address or a folder can't be used.
    """
    import gc

    gc.disable()  # as `python web/app.py` does, until it serves
    from web.app import main as serve_page

    raise typer.Exit(serve_page())


for commands in (
    turn_commands,
    library_commands,
    exchange_commands,
    lesson_commands,
    setup_commands,
    worker_command,
    mcp_command,
):
    app.add_typer(commands.app)
app.add_typer(project_commands.app, name="build")
app.add_typer(key_commands.app, name="keys")
app.add_typer(schedule_commands.app, name="schedules")
app.add_typer(exchange_commands.subscriptions, name="subscriptions")
app.add_typer(secret_commands.app, name="secrets")
app.add_typer(server_commands.app, name="servers")
app.add_typer(grant_commands.app, name="grants")
app.add_typer(health_commands.app, name="health")


def main() -> NoReturn:
    """The program `selfeng`; anything that is not a command is a request: `selfeng "What is 15
    percent of 300?"`.
    """
    run_and_exit(lambda: app(prog_name="selfeng"))


def self_test(part: str) -> None:
    """The program of `python src/<part>.py`: run `check`, then end the process."""
    run_and_exit(lambda: app(["check", part], prog_name="selfeng"))
