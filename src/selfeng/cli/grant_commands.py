"""The commands for grants: which hosts tools of the library may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_json, say
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.engine import Engine

app = typer.Typer(no_args_is_help=True)

Tool = Annotated[str, typer.Argument(help="Its name.")]
Host = Annotated[str, typer.Argument(help="One of its hosts; by default all.")]


@app.callback(epilog=example("selfeng grants list"))
def grants() -> None:
    """Grants: the hosts that tools may send requests to."""


@app.command("list", epilog=example("selfeng grants list", "selfeng grants list --json"))
@on_engine()
async def list_grants(engine: Engine, *, json: AsJson = False) -> None:
    """List which tools may use which hosts, and since when."""
    listed = await engine.network.grants()
    if json:
        print_json([grant.model_dump(mode="json") for grant in listed])
        return
    for grant in listed:
        typer.echo(one_line(f"{grant.tool:32} {grant.at:%Y-%m-%d} {grant.access}"))
    if not listed:
        say("No tool may use a host.")


@app.command(epilog=example("selfeng grants allow current_weather api.open-meteo.com"))
@on_engine()
async def allow(engine: Engine, tool: Tool, host: Host = "") -> None:
    """Allow a tool what it needs of a host, also in later versions that need the same."""
    found_tool = await engine.library.get(tool)
    for access in await engine.network.allow(LOCAL, found_tool, host):
        typer.echo(one_line(f"{tool} may send {access}"))


@app.command(epilog=example("selfeng grants revoke current_weather"))
@on_engine()
async def revoke(engine: Engine, tool: Tool, host: Host = "") -> None:
    """Ask again before a tool uses a host, or any."""
    typer.echo(f"{count(await engine.network.revoke(tool, host), 'grant')} revoked")
