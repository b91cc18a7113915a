"""A command: its work on an event loop, its messages on stderr, and its exit code."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

import typer

from selfeng.bootstrap import build_engine
from selfeng.core.errors import AgentError
from selfeng.core.logs import log_to_stderr
from selfeng.core.visible import visible
from selfeng.engine import Engine
from selfeng.provision.parts import provision
from selfeng.settings import Settings, load_settings, make_folders


def say(line: str) -> None:
    """Print a line for the person, on stderr."""
    typer.echo(visible(line), file=sys.stderr)


@contextmanager
def errors_said() -> Iterator[None]:
    """Print an error with its remedy instead of raising it."""
    try:
        yield
    except AgentError as error:
        say(f"error: {error.message}" + (f"\n{error.remedy}" if error.remedy else ""))


def finish(work: Callable[[], int]) -> None:
    """Do a command's work and exit with its code: 1 after an error, 130 after Ctrl-C."""
    log_to_stderr()
    code = 1
    try:
        with errors_said():
            code = work()
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)


def run(work: Callable[[Settings], Coroutine[Any, Any, int]]) -> None:
    """Run a command on its own event loop, and exit with its code."""

    def on_a_loop() -> int:
        settings = load_settings()
        log_to_stderr(settings.log_level)
        make_folders(settings)
        return asyncio.run(work(settings))

    finish(on_a_loop)


@asynccontextmanager
async def opened(settings: Settings, *parts: str) -> AsyncIterator[Engine]:
    """The engine, after these parts of the machine were set up."""
    if parts:
        provision(settings, say, parts)
    async with aclosing(await build_engine(settings)) as engine:
        yield engine


def with_engine(work: Callable[[Engine], Awaitable[int | None]], *parts: str) -> None:
    """Run a command on the engine, after these parts were set up, and exit with its code (None is
    0).
    """

    async def on_the_engine(settings: Settings) -> int:
        async with opened(settings, *parts) as engine:
            return await work(engine) or 0

    run(on_the_engine)
