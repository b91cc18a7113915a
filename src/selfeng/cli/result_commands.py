"""The command for the value that a tool returned."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from selfeng.cli.command import AsJson, example, on_engine, say
from selfeng.core.errors import RequestError
from selfeng.core.owner import LOCAL
from selfeng.core.visible import visible

if TYPE_CHECKING:
    from selfeng.core.result import ResultFormat
    from selfeng.engine import Engine

app = typer.Typer()

_ENDINGS: dict[str, ResultFormat] = {".csv": "csv", ".json": "json", ".txt": "text", "": "text"}


@app.command(epilog=example("selfeng result", "selfeng result --output prices.csv"))
@on_engine()
async def result(
    engine: Engine,
    turn: Annotated[str, typer.Argument(help="Id of a turn; the newest without it.")] = "",
    *,
    format: Annotated[
        str, typer.Option(help="csv, json or text; otherwise as --output ends, or drawn.")
    ] = "",
    json: AsJson = False,
    output: Annotated[Path | None, typer.Option(help="A file for it; none is overwritten.")] = None,
) -> None:
    """Print the whole value that the tool of a turn returned."""
    from selfeng.cli.drawing import draw
    from selfeng.core.files import File, name_problem
    from selfeng.core.result import ResultFormat
    from selfeng.doors.local_files import write_files

    ending = output.suffix.lower() if output else ""
    explicit_format = "json" if json else format
    format_name = explicit_format or (_ENDINGS.get(ending, ending[1:]) if output else "")
    form = next((choice for choice in get_args(ResultFormat) if choice == format_name), None)
    if format_name and not form:
        raise RequestError(f"unknown format {format_name!r}", "use csv, json or text")
    if output and (problem := name_problem(output.name)):
        raise RequestError(f"--output can't be {output.name!r}: {problem}", "name a file")
    value = await engine.conversations.result_of_turn(LOCAL, turn)
    if form is None:
        draw(value)
        return
    text = value.in_format(form)
    if output:
        file = File(name=output.name, content=text.encode())
        say(f"written: {', '.join(map(str, write_files((file,), output.parent)))}")
    else:
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
