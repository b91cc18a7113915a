"""The commands for other MCP servers, whose tools the agent may use."""

from typing import Annotated

import typer

from selfeng.cli.command import say, with_engine
from selfeng.core.visible import one_line
from selfeng.core.words import count
from selfeng.engine import Engine
from selfeng.mcp_client.mcp_servers import ServerWithTools

app = typer.Typer(no_args_is_help=True)

_PATIENCE = 30.0
Tool = Annotated[str, typer.Argument(help="One of its tools; by default all.")]


@app.callback()
def servers() -> None:
    """Other MCP servers, whose tools the agent may use: those of mcp.json in DATA_DIR."""


@app.command("list")
def list_servers() -> None:
    """Connect to the servers, and list them with their tools and which of them are always allowed.
    Exit code 1 if one can't be used.
    """

    async def work(engine: Engine) -> int:
        found = await engine.servers.servers(wait=_PATIENCE)
        for server in found:
            _print(server)
        if not found:
            say(f"There are no other servers. Add them to {engine.servers.file}.")
        return 1 if any(server.status.problem for server in found) else 0

    with_engine(work)


@app.command()
def allow(server: str, tool: Tool = "") -> None:
    """Always allow a tool as its server describes it now, or all tools of the server."""

    async def work(engine: Engine) -> None:
        await engine.servers.servers(wait=_PATIENCE)
        allowed = await engine.servers.allow_named(server, tool)
        typer.echo(f"{count(allowed, 'tool')} of {server} always allowed")

    with_engine(work)


@app.command()
def revoke(server: str, tool: Tool = "") -> None:
    """Ask again before a tool is called, or any tool of the server."""

    async def work(engine: Engine) -> None:
        revoked = await engine.servers.revoke(server, tool)
        typer.echo(f"{count(revoked, 'consent')} revoked")

    with_engine(work)


def _print(server: ServerWithTools) -> None:
    status = server.status
    typer.echo(one_line(f"{status.name or 'mcp.json':32} {status.state:11} {status.address}"))
    if status.problem:
        typer.echo(one_line(f"  problem: {status.problem}"))
    for known in server.tools:
        consent = "always" if known.allowed else "asks"
        says = known.tool.description
        typer.echo(one_line(f"  {known.tool.tool:30} {consent:11} {says}")[:200])
