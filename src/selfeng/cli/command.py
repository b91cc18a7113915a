"""A command: its work on an event loop, its messages on stderr, and its exit code.

The modules of commands are imported for every `selfeng --help` and every completion of a shell, so
they import what works only where it works.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_type_hints

import typer

from selfeng.core.errors import AgentError
from selfeng.core.logs import log_to_stderr
from selfeng.core.visible import visible

if TYPE_CHECKING:
    from selfeng.core.settings import Settings
    from selfeng.core.value import Value
    from selfeng.engine import Engine

V = TypeVar("V", bound="Value")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
INTERRUPTED, PIPE_CLOSED = 130, 141
"""Exit codes by which shells report SIGINT and SIGPIPE."""


def example(*lines: str) -> str:
    """The end of a command's help: command lines that a person can type."""
    return "\b\n" + "\n".join(["Example:", *(f"  {line}" for line in lines)])


def say(line: str) -> None:
    """Print a line for the person, on stderr."""
    typer.echo(visible(line), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value on stdout as indented JSON, in ASCII, so that no terminal interprets it."""
    typer.echo(json.dumps(value, indent=2))


def print_listed(
    values: Sequence[V], line: Callable[[V], str], *, as_json: bool, hidden: Collection[str] = ()
) -> None:
    """Print a line of each value on stdout, or all as JSON without the `hidden` fields."""
    if as_json:
        print_json([value.model_dump(mode="json", exclude={*hidden}) for value in values])
    else:
        for value in values:
            typer.echo(line(value))


@contextmanager
def errors_said() -> Iterator[None]:
    """Print an error with its remedy instead of raising it."""
    try:
        yield
    except AgentError as error:
        say(f"error: {error.message}" + (f"\n{error.remedy}" if error.remedy else ""))


def finish(work: Callable[[], int]) -> None:
    """Do a command's work and exit with its code: 1 after an error, 130 after Ctrl-C, 141 if what
    reads stdout has ended.
    """
    from selfeng.core.settings import export_env_file

    log_to_stderr()
    code = 1
    try:
        with errors_said():
            export_env_file()
            code = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = PIPE_CLOSED
    raise typer.Exit(code)


def run(work: Callable[[Settings], Coroutine[Any, Any, int]]) -> None:
    """Run a command on its own event loop, and exit with its code."""
    import asyncio

    from selfeng.core.network import join_network
    from selfeng.core.settings import load_settings, make_folders

    def on_a_loop() -> int:
        join_network()
        settings = load_settings()
        log_to_stderr(settings.log_level)
        make_folders(settings)
        return asyncio.run(work(settings))

    finish(on_a_loop)


@asynccontextmanager
async def opened(settings: Settings, *parts: str) -> AsyncIterator[Engine]:
    """The engine, after these parts of the machine were set up."""
    from selfeng.bootstrap import build_engine
    from selfeng.provision.parts import provision

    if parts:
        provision(settings, say, parts)
    async with aclosing(await build_engine(settings)) as engine:
        yield engine


Work = Callable[..., Coroutine[Any, Any, int | None]]


def _command(work: Work, start: Callable[[Work], None]) -> Callable[..., None]:
    """A command of a coroutine function, without its first parameter, which `start` gives it."""

    @wraps(work)
    def command(**options: Any) -> None:
        start(lambda first: work(first, **options))

    _, *parameters = inspect.signature(work).parameters.values()
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    types = get_type_hints(command, include_extras=True)
    parameters = [p.replace(annotation=types[p.name]) for p in parameters]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def on_engine(*parts: str) -> Callable[[Work], Callable[..., None]]:
    """Make a command of a coroutine function whose first parameter is the engine, after these parts
    were set up; it exits with the code that it returns (None is 0).
    """

    async def on_the_engine(work: Work, settings: Settings) -> int:
        async with opened(settings, *parts) as engine:
            return await work(engine) or 0

    return lambda work: _command(work, lambda start: run(partial(on_the_engine, start)))


def on_settings(work: Callable[..., Coroutine[Any, Any, int]]) -> Callable[..., None]:
    """Make a command of a coroutine function whose first parameter are the settings, see `run`."""
    return _command(work, cast(Any, run))
