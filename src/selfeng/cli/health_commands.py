"""The commands for the health of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_json, say
from selfeng.cli.shell_completion import tool_names
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.engine import Engine

app = typer.Typer()

_COMMANDS = {
    "merge": "; `selfeng health merge {} {}` makes one of them",
    "strengthen": "; `selfeng teach {}` adds tests",
    "refactor": "; `selfeng refactor {}` makes it faster",
    "retire": "; `selfeng retire {}` hides it from searches",
}
"""By what a finding proposes."""


@app.callback(
    invoke_without_command=True,
    epilog=example("selfeng health", "selfeng health --json", "selfeng health --days 30"),
)
def health(
    context: typer.Context,
    *,
    days: Annotated[int, typer.Option(help="Days after which an unused tool is stale.")] = 90,
    as_json: AsJson = False,
) -> None:
    """List the tools that do the same as another, have weak tests, or are slow, suspect or unused,
    and what you may do. Nothing changes. Exit code 1 if there is something to do.
    """
    if context.invoked_subcommand is None:
        _report(days=days, as_json=as_json)


@on_engine("sandbox")
async def _report(engine: Engine, *, days: int, as_json: bool) -> int:
    report = await engine.health.report(LOCAL, days)
    if as_json:
        print_json(report.model_dump(mode="json"))
        return int(report.troubled)
    for finding in report.findings:
        todo = _COMMANDS.get(finding.proposal, "").format(*finding.tools)
        typer.echo(one_line(f"{finding.tools[0]:32} {finding.words}{todo}"))
    say(f"{count(report.tools, 'tool')}, {count(len(report.findings), 'finding')}")
    if report.unmeasured:
        say(f"{count(report.unmeasured, 'suite')} not measured yet; the next report continues.")
    return int(report.troubled)


@app.command(epilog=example("selfeng health merge slugify_text make_slug"))
@on_engine("embedder", "sandbox")
async def merge(
    engine: Engine,
    into: Annotated[str, typer.Argument(help="The tool that stays.", autocompletion=tool_names)],
    name: Annotated[str, typer.Argument(help="The other.", autocompletion=tool_names)],
) -> None:
    """Make one tool of two, if one passes the tests of both and returns what is recorded of both.
    Searches find it in place of the other, which is retired.
    """
    from selfeng.core.provenance import Proposal

    tool = await engine.review.merge(LOCAL, into, name)
    await engine.upkeep.wait_idle()
    if isinstance(tool, Proposal):
        say(f"{tool.words}; `selfeng accept {into}` merges {name} into it.")
    else:
        say(f"{name} is merged into {into}; `selfeng health undo {name}` takes it back.")


@app.command(epilog=example("selfeng health undo make_slug"))
@on_engine("embedder")
async def undo(
    engine: Engine,
    name: Annotated[str, typer.Argument(help="The tool that was merged into another.")],
) -> None:
    """Offer a tool again that was merged into another."""
    tool = await engine.review.unmerge(name)
    await engine.upkeep.wait_idle()
    say(f"{tool.name} is {tool.standing}.")
