"""The commands for schedules: calls of tools at set times, without a model."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_json, print_listed, say
from selfeng.cli.library_commands import Name as Tool
from selfeng.cli.library_commands import parsed_arguments, read_paths
from selfeng.core.errors import RequestError
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line, visible

if TYPE_CHECKING:
    from selfeng.core.schedule import Schedule
    from selfeng.engine import Engine

app = typer.Typer(no_args_is_help=True)

_DELIVER = """write such as --deliver '{"kind": "folder", "form": "csv"}'"""
Name = Annotated[str, typer.Argument(help="The schedule.")]


@app.callback(epilog=example("selfeng schedules list"))
def schedules() -> None:
    """Schedules: tools that are called at set times while a server runs, without a model."""


@app.command(
    epilog=example(
        "selfeng schedules add summarize_csv file=sales.csv --file sales.csv "
        "--cron '0 8 * * mon' --timezone Europe/Berlin"
    )
)
@on_engine()
async def add(
    engine: Engine,
    tool: Tool,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE|JSON|-]…", help="As those of `selfeng call`."),
    ] = None,
    *,
    cron: Annotated[
        str, typer.Option(help="Minute, hour, day, month and weekday, such as '0 8 * * mon'.")
    ] = "",
    hook: Annotated[str, typer.Option(help="The secret that signs requests to begin a run.")] = "",
    watch: Annotated[
        str, typer.Option(help="A folder of WATCHED_FOLDERS, whose new files begin runs.")
    ] = "",
    pattern: Annotated[str, typer.Option(help="Which of these files.")] = "*",
    timezone: Annotated[str, typer.Option(help="Such as Europe/Berlin.")] = "UTC",
    name: Annotated[str, typer.Option(help="By default the name of the tool.")] = "",
    version: Annotated[int, typer.Option(help="Of the tool; by default the newest.")] = 0,
    missed: Annotated[
        str, typer.Option(help="Runs that nobody could begin in time: skip, once or all.")
    ] = "once",
    seconds: Annotated[int, typer.Option(help="What a run may take.")] = 600,
    file: Annotated[list[Path] | None, typer.Option(help="A file; repeat for more.")] = None,
    deliver: Annotated[
        str,
        typer.Option(
            help="Where results go, too, as JSON: a folder, webhook or mail; docs/turns.md has it."
        ),
    ] = "",
) -> None:
    """Have a version of a tool called at set times. Its runs are turns of a conversation."""
    from selfeng.core.schedule import SchedulePlan
    from selfeng.core.value import validated

    files = await read_paths(engine, file)
    called = await engine.library.get(tool)
    fields = {
        "name": name,
        "tool": tool,
        "version": version,
        "arguments": parsed_arguments(called, arguments or []),
        "cron": cron,
        "timezone": timezone,
        "missed": missed,
        "seconds": seconds,
        "hook": hook,
        **({"watch": {"folder": watch, "pattern": pattern}} if watch else {}),
        **({"deliver": _object(deliver)} if deliver else {}),
    }
    remedy = "`selfeng schedules add -h` has what is allowed"
    plan = validated(SchedulePlan, fields, "the schedule", remedy)
    typer.echo(_line(await engine.schedule(LOCAL, plan, files)))


@app.command("list", epilog=example("selfeng schedules list", "selfeng schedules list --json"))
@on_engine()
async def list_schedules(engine: Engine, *, as_json: AsJson = False) -> int:
    """List the schedules of the command line. Exit code 1 if one is paused as a run needs you."""
    listed = await engine.schedules.list(LOCAL)
    print_listed(listed, _line, as_json=as_json)
    if not listed:
        say("There are no schedules.")
    return int(any(schedule.troubled for schedule in listed))


@app.command(epilog=example("selfeng schedules show sales"))
@on_engine()
async def show(engine: Engine, name: Name, *, as_json: AsJson = False) -> int:
    """Show a schedule, when it is due, and its last run. Exit code 1 if that needs you."""
    schedule = await engine.schedules.get(LOCAL, name)
    if as_json:
        print_json(schedule.model_dump(mode="json"))
        return int(schedule.troubled)
    typer.echo(_line(schedule))
    if schedule.upcoming:
        due = ", ".join(f"{at:%Y-%m-%d %H:%M}" for at in schedule.upcoming)
        typer.echo(f"  due next: {due} UTC")
    if schedule.hook:
        typer.echo(f"  hook: POST /hooks/{schedule.id}, signed with {schedule.hook}")
    typer.echo(f"  conversation: {schedule.conversation_id}")
    if schedule.last and schedule.last.text:
        typer.echo(visible(schedule.last.text))
    return int(schedule.troubled)


@app.command(epilog=example("selfeng schedules run sales"))
@on_engine("sandbox")
async def run(engine: Engine, name: Name) -> int:
    """Run a schedule once, now, and print what it came to. Exit code 1 if that needs you."""
    pending_run = engine.schedules.start(LOCAL, name)
    async with aclosing(engine.turn(LOCAL, pending_run)) as records:
        async for _ in records:
            pass
    schedule = await engine.schedules.settled(LOCAL, name)
    assert schedule.last, name
    if schedule.last.text:
        typer.echo(visible(schedule.last.text))
    if schedule.last.problem:
        say(f"paused: {schedule.last.problem}")
    return int(bool(schedule.last.problem))


@app.command(epilog=example("selfeng schedules pause sales"))
@on_engine()
async def pause(engine: Engine, name: Name) -> None:
    """Begin no more runs of a schedule."""
    typer.echo(_line(await engine.schedules.pause(LOCAL, name)))


@app.command(epilog=example("selfeng schedules resume sales"))
@on_engine()
async def resume(engine: Engine, name: Name) -> None:
    """Begin the runs of a paused schedule again, from the next time on."""
    typer.echo(_line(await engine.schedules.resume(LOCAL, name)))


@app.command(epilog=example("selfeng schedules remove sales"))
@on_engine()
async def remove(engine: Engine, name: Name) -> None:
    """Remove a schedule. Its conversation stays, with the results."""
    await engine.schedules.remove(LOCAL, name)


def _object(text: str) -> Any:
    """Raises: RequestError."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise RequestError(f"--deliver is not JSON: {error}", _DELIVER) from error


def _line(schedule: Schedule) -> str:
    state = f"due {schedule.next_at:%Y-%m-%d %H:%M} UTC" if schedule.cron else "on"
    if schedule.state == "paused":
        state = f"paused: {schedule.reason}"
    elif schedule.run:
        state = f"runs; {state}"
    tool = f"{schedule.tool} version {schedule.version}"
    return one_line(f"{schedule.name:24} {tool}, {schedule.when}, {state}")
