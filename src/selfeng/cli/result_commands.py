"""The command for the value that a tool returned, and how a terminal shows one."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from selfeng.cli.command import say, with_engine
from selfeng.cli.local_files import write_files
from selfeng.core.errors import RequestError
from selfeng.core.files import File, name_problem
from selfeng.core.owner import LOCAL
from selfeng.core.result import Result, ResultFormat, Table, table_of
from selfeng.core.visible import one_line, visible
from selfeng.core.words import for_people, shortened
from selfeng.engine import Engine

app = typer.Typer()

_ENDINGS: dict[str, ResultFormat] = {".csv": "csv", ".json": "json", ".txt": "text", "": "text"}
ROWS = 40
"""Rows that follow an answer."""
_CELL = 60
_TEXT = 4_000


@app.command()
def result(
    turn: Annotated[str, typer.Argument(help="Id of a turn; the newest without it.")] = "",
    format: Annotated[
        str, typer.Option(help="csv, json or text; otherwise as --output ends, or drawn.")
    ] = "",
    output: Annotated[Path | None, typer.Option(help="A file for it; none is overwritten.")] = None,
) -> None:
    """Print the whole value that the tool of a turn returned."""

    async def work(engine: Engine) -> None:
        ending = output.suffix.lower() if output else ""
        asked = format or (_ENDINGS.get(ending, ending[1:]) if output else "")
        form = next((known for known in get_args(ResultFormat) if known == asked), None)
        if asked and not form:
            raise RequestError(f"unknown format {asked!r}", "use csv, json or text")
        if output and (problem := name_problem(output.name)):
            raise RequestError(f"--output can't be {output.name!r}: {problem}", "name a file")
        found = await engine.result_of_turn(LOCAL, turn)
        if form is None:
            draw(found)
            return
        text = found.in_format(form)
        if output:
            file = File(name=output.name, content=text.encode())
            say(f"written: {', '.join(map(str, write_files((file,), output.parent)))}")
        else:
            sys.stdout.write(visible(text) if sys.stdout.isatty() else text)

    with_engine(work)


def draw(value: Result, rows: int | None = None) -> None:
    """Show a value on stdout; `rows`: at most as many of a table, or the ends of anything else."""
    console, whole = Console(highlight=False), json.loads(value.content)
    if table := table_of(whole) or _figures(whole):
        console.print(_grid(table, rows))
        if rows is not None and len(table.rows) > rows:
            say(f"The first {rows} of {value.reference.shape}; all of it: selfeng result")
        return
    plain = isinstance(whole, list) and not any(isinstance(item, dict | list) for item in whole)
    text = ", ".join(map(_cell, whole)) if plain else value.in_format("text").rstrip("\n")
    console.print(Text(visible(shortened(text, _TEXT) if rows is not None else text)))


def _figures(value: Any) -> Table | None:
    """An object of numbers, such as sums by group, as a table; None for anything else."""
    if not isinstance(value, dict) or not all(isinstance(v, int | float) for v in value.values()):
        return None
    return Table(("name", "value"), [[name, number] for name, number in value.items()])


def _grid(table: Table, rows: int | None) -> Grid:
    grid = Grid()
    for number, name in enumerate(table.columns):
        numeric = all(isinstance(row[number], int | float | None) for row in table.rows)
        grid.add_column(Text(visible(name)), justify="right" if numeric else "left")
    for row in table.rows[:rows]:
        grid.add_row(*(Text(_cell(cell)) for cell in row))
    return grid


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return for_people(cell).removeprefix("about ")
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return one_line(text) if len(text) <= _CELL else f"{one_line(text[:_CELL])}…"
