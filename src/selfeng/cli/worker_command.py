"""The command that runs turns without a page."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

import typer

from selfeng.cli.command import example, run, say
from selfeng.core.errors import ConfigurationError

if TYPE_CHECKING:
    from selfeng.settings import Settings

app = typer.Typer()


@app.command(epilog=example("DATABASE_URL=postgresql+psycopg://… selfeng worker"))
def worker() -> None:
    """Run the requests that page servers took in and have no room for, until Ctrl-C or SIGTERM;
    another process goes on with what is not done then. All of them share a PostgreSQL. Exit code 1
    if a part can't be opened.
    """
    run(_work)


async def _work(settings: Settings) -> int:
    if not settings.database.startswith("postgresql"):
        raise ConfigurationError(
            "a worker needs a database that several processes share, and DATABASE_URL names SQLite",
            "set DATABASE_URL to a PostgreSQL, for the page servers too; "
            "with SQLite, `selfeng serve` alone runs everything",
        )
    if not settings.turns_per_process:
        raise ConfigurationError(
            "a worker with TURNS_PER_PROCESS=0 runs nothing", "set it to 1 or more"
        )
    from selfeng.bootstrap import build_engine

    stop = asyncio.Event()
    async with aclosing(await build_engine(settings, durable=True)) as engine:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, partial(_wake, asyncio.get_running_loop(), _ends(stop)))
        await engine.learn_from_turns()
        engine.readiness.tell(say)
        engine.set_up()
        await engine.resume_turns()
        say("Waiting for requests.")
        await stop.wait()
    return 0


def _ends(stop: asyncio.Event) -> Callable[[], None]:
    """The first signal ends the worker in order, the second one at once."""

    def end() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    return end


def _wake(loop: asyncio.AbstractEventLoop, end: Callable[[], None], *_: object) -> None:
    """A signal's handler: Windows has none of the loop's own."""
    loop.call_soon_threadsafe(end)
