"""The command that serves agents of other programs over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs, urlsplit

import typer

from selfeng.cli.command import example, on_settings, say
from selfeng.core.errors import ConfigurationError
from selfeng.core.owner import LOCAL
from selfeng.core.process import tune_process

if TYPE_CHECKING:
    from selfeng.core.settings import Settings
    from selfeng.doors.engine_tools import EngineTools
    from selfeng.doors.mcp_server import ToolSource

app = typer.Typer()

_ALL = {"0.0.0.0", "::"}  # noqa: S104 - compared only


@app.command(epilog=example("selfeng mcp", "selfeng mcp --url 'http://127.0.0.1:5000/?token=…'"))
@on_settings
async def mcp(
    settings: Settings,
    url: Annotated[
        str,
        typer.Option(
            envvar="SELFENG_URL",
            help="The running app: its address, or the link that it printed; by default the one "
            "of the settings on this machine.",
        ),
    ] = "",
) -> int:
    """Speak MCP on stdin and stdout, for the agents of other programs: forward to the running app,
    with ACCESS_TOKEN unless the link has a token. Without one, be the app, if nothing else uses
    its data. Exit code 1 if there is nothing to speak for.
    """
    from selfeng.doors.forwarding import forwarded

    address, token = _app_address(url, settings)
    if url or await _answers(address):
        async with forwarded(address, token) as tools:
            await _speak(tools)
    else:
        await _serve_alone(settings, address)
    return 0


def _app_address(url: str, settings: Settings) -> tuple[str, str]:
    """Address and token of the app. Raises: ConfigurationError."""
    token = settings.access_token.get_secret_value() if settings.access_token else ""
    if not url:
        host = "127.0.0.1" if settings.flask_host in _ALL else settings.flask_host
        return f"http://{f'[{host}]' if ':' in host else host}:{settings.flask_port}", token
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError(
            f"SELFENG_URL={url[:80]!r} is no address", "write one such as http://127.0.0.1:5000"
        )
    path = parts.path.rstrip("/").removesuffix("/mcp")
    (url_token,) = parse_qs(parts.query).get("token", [token])
    return f"{parts.scheme}://{parts.netloc}{path}", url_token


async def _answers(address: str) -> bool:
    """Whether something listens there."""
    parts = urlsplit(address)
    try:
        _, writer = await asyncio.open_connection(parts.hostname, parts.port or None)
    except OSError:
        return False
    writer.close()
    return True


async def _serve_alone(settings: Settings, address: str) -> None:
    """Be the engine. Raises: ConfigurationError: another process uses its data."""
    from selfeng.bootstrap import build_engine
    from selfeng.store.backup import BackupError, in_use

    try:
        with in_use(settings.data_dir, alone=True):
            pass
    except BackupError as error:
        raise ConfigurationError(
            f"{error.message}, and nothing answers at {address}",
            "set SELFENG_URL to the link that the server printed",
        ) from error
    from selfeng.doors.engine_tools import EngineTools

    async with aclosing(await build_engine(settings, durable=True)) as engine:
        await engine.learning.start()
        engine.readiness.tell(say)
        tune_process(engine.setup.start())
        await engine.recovery.start()
        tools = EngineTools(engine, LOCAL, settings.mcp_tools)
        await _speak(tools, tools)


async def _speak(tools: ToolSource, tasks: EngineTools | None = None) -> None:
    """Serve one client until it closes our stdin; `tasks` as for `mcp_server`."""
    from mcp.server.stdio import stdio_server

    from selfeng.doors.mcp_server import mcp_server

    server = mcp_server(tools, tasks=tasks)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
