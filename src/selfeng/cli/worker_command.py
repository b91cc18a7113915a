"""The command that runs turns without a page."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import typer

from selfeng.cli.command import example, on_settings, say
from selfeng.core.errors import ConfigurationError
from selfeng.core.process import tune_process

if TYPE_CHECKING:
    from selfeng.core.settings import Settings

app = typer.Typer()
_PATIENCE = 10.0
"""Seconds for a request of `/healthz`."""


@app.command(epilog=example("DATABASE_URL=postgresql+psycopg://… selfeng worker"))
@on_settings
async def worker(settings: Settings) -> int:
    """Run the requests that page servers took in and have no room for, until Ctrl-C or SIGTERM;
    another process then resumes the rest. All of them share a PostgreSQL. It takes requests once it
    is set up, which `/healthz` at WORKER_PORT reports. Exit code 1 if a part can't be opened.
    """
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
        await engine.learning.start()
        engine.readiness.tell(say)
        tune_process(engine.setup.start())
        start_task = asyncio.create_task(engine.recovery.start(once_ready=True))
        stop_task = asyncio.create_task(stop.wait())

        def unready() -> str:
            return engine.readiness.reason or ("" if start_task.done() else "it starts")

        async with _answering(settings, unready):
            await asyncio.wait({start_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
            if start_task.done():
                start_task.result()
                say("Ready: this worker takes requests.")
                await stop_task
            start_task.cancel()
    return 0


@asynccontextmanager
async def _answering(settings: Settings, unready: Callable[[], str]) -> AsyncIterator[None]:
    """Answer `/healthz` meanwhile: 200 once the worker takes requests, else 503 with the reason."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_reply(head.split()[1:2] == [b"/healthz"], unready()))
                await writer.drain()
        writer.close()

    async with AsyncExitStack() as stack:
        if settings.worker_port:
            try:
                server = await asyncio.start_server(
                    answer, settings.flask_host, settings.worker_port
                )
            except OSError as error:
                say(
                    f"This worker does not answer /healthz: {error.strerror or error}. Set "
                    f"WORKER_PORT={settings.worker_port} to another port, or to 0 for none."
                )
            else:
                await stack.enter_async_context(server)
        yield


def _reply(is_known_path: bool, reason: str) -> bytes:
    status = (
        "404 Not Found" if not is_known_path else "503 Service Unavailable" if reason else "200 OK"
    )
    body = f"{reason or 'ok'}\n".encode() if is_known_path else b""
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


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
