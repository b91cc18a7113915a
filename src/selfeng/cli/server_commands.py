"""The commands for other MCP servers, whose tools the agent may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_json, say
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.engine import Engine
    from selfeng.servers.mcp_servers import ServerWithTools

app = typer.Typer(no_args_is_help=True)

_PATIENCE = 30.0
"""Seconds for a server to start and list its tools."""
Server = Annotated[str, typer.Argument(help="Its name in mcp.json.")]
Tool = Annotated[str, typer.Argument(help="One of its tools; by default all.")]


@app.callback(epilog=example("selfeng servers list"))
def servers() -> None:
    """Other MCP servers, whose tools the agent may use: those of mcp.json in DATA_DIR."""


@app.command("list", epilog=example("selfeng servers list", "selfeng servers list --json"))
@on_engine()
async def list_servers(engine: Engine, *, json: AsJson = False) -> int:
    """Connect to the servers, and list them with their tools and which of them are always allowed.
    Exit code 1 if one can't be used.
    """
    all_servers = await engine.servers.servers(wait=_PATIENCE)
    if json:
        print_json([server.as_json() for server in all_servers])
    else:
        for server in all_servers:
            _print(server)
    if not all_servers:
        say(f"There are no other servers. Add them to {engine.servers.file}.")
    return 1 if any(server.status.problem for server in all_servers) else 0


@app.command(epilog=example("selfeng servers allow files read_text_file"))
@on_engine()
async def allow(engine: Engine, server: Server, tool: Tool = "") -> None:
    """Always allow a tool as its server describes it now, or all tools of the server."""
    await engine.servers.servers(wait=_PATIENCE)
    allowed = await engine.servers.allow_named(server, tool)
    typer.echo(f"{count(allowed, 'tool')} of {server} always allowed")


@app.command(epilog=example("selfeng servers revoke files"))
@on_engine()
async def revoke(engine: Engine, server: Server, tool: Tool = "") -> None:
    """Ask again before a tool is called, or any tool of the server."""
    revoked = await engine.servers.revoke(server, tool)
    typer.echo(f"{count(revoked, 'consent')} revoked")


def _print(server: ServerWithTools) -> None:
    status = server.status
    typer.echo(one_line(f"{status.name or 'mcp.json':32} {status.state:11} {status.address}"))
    if status.problem:
        typer.echo(one_line(f"  problem: {status.problem}"))
    for server_tool in server.tools:
        consent = "always" if server_tool.allowed else "asks"
        says = server_tool.tool.description
        typer.echo(one_line(f"  {server_tool.tool.tool:30} {consent:11} {says}")[:200])
