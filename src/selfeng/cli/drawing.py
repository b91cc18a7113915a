"""How a terminal shows the value that a tool returned."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from selfeng.cli.command import say
from selfeng.core.result import Result, Table, table_of
from selfeng.core.visible import one_line, visible
from selfeng.core.words import for_people, shortened

ROWS = 40
"""Rows that follow an answer."""
_CELL = 60
_TEXT = 4_000


def draw(value: Result, rows: int | None = None) -> None:
    """Show a value on stdout; `rows`: at most as many of a table, or the ends of anything else."""
    console, data = Console(highlight=False), json.loads(value.content)
    if table := table_of(data) or _figures(data):
        console.print(_grid(table, rows))
        if rows is not None and len(table.rows) > rows:
            say(f"The first {rows} of {value.reference.shape}; all of it: selfeng result")
        return
    plain = isinstance(data, list) and not any(isinstance(item, dict | list) for item in data)
    text = ", ".join(map(_cell, data)) if plain else value.in_format("text").rstrip("\n")
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
        return for_people(cell, digits=6).removeprefix("about ")
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return one_line(text) if len(text) <= _CELL else f"{one_line(text[:_CELL])}…"
