"""The commands for grants: what tools of the library may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_listed, say
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.engine import Engine

app = typer.Typer(no_args_is_help=True)

Tool = Annotated[str, typer.Argument(help="Its name.")]
_NEED = "A host, a package or `limits`; by default all."
Need = Annotated[str, typer.Argument(help=_NEED)]
Needs = Annotated[list[str] | None, typer.Argument(help=_NEED)]


@app.callback(epilog=example("selfeng grants list"))
def grants() -> None:
    """Grants: the hosts, packages and limits that you allow tools."""


@app.command("list", epilog=example("selfeng grants list", "selfeng grants list --json"))
@on_engine()
async def list_grants(engine: Engine, *, json: AsJson = False) -> None:
    """List what tools may have, and since when."""
    listed = await engine.network.grants()
    print_listed(
        listed,
        lambda grant: one_line(f"{grant.tool:32} {grant.at:%Y-%m-%d} {grant.need}"),
        as_json=json,
    )
    if not listed and not json:
        say("No tool has a grant.")


@app.command(epilog=example("selfeng grants allow current_weather api.open-meteo.com"))
@on_engine()
async def allow(engine: Engine, tool: Tool, needs: Needs = None) -> None:
    """Allow a tool what it needs, also in later versions that need the same."""
    allowed_tool = await engine.library.get(tool)
    for need in needs or [""]:
        for granted in await engine.network.allow(LOCAL, allowed_tool, need):
            typer.echo(one_line(f"{tool} may have {granted}"))


@app.command(epilog=example("selfeng grants revoke current_weather"))
@on_engine()
async def revoke(engine: Engine, tool: Tool, need: Need = "") -> None:
    """Ask again before a tool has something, or anything, that it needs."""
    typer.echo(f"{count(await engine.network.revoke(tool, need), 'grant')} revoked")
