import csv
from datetime import datetime

from matplotlib.figure import Figure


def plot_csv_columns(path: str, x: str, y: str, output: str = "plot.png") -> str:
    """Plot one column of a CSV file against another and write the chart as a PNG picture.

    Args:
        path: Name of the file.
        x: Name of the column along the horizontal axis: numbers, ISO dates or names.
        y: Name of the column along the vertical axis, of numbers.
        output: Name of the picture.

    Returns:
        The name of the picture.

    Raises:
        ValueError: There is no such file or column, or what is to be plotted is not a number.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except OSError as error:
        raise ValueError(f"there is no file {path!r} that can be read") from error
    header = rows[0] if rows else []
    for name in (x, y):
        if name not in header:
            raise ValueError(f"there is no column {name!r}; the columns are {header}")
    across, up = header.index(x), header.index(y)
    rows = [row for row in rows[1:] if len(row) > max(across, up) and row[across] and row[up]]
    try:
        heights = [float(row[up]) for row in rows]
    except ValueError as error:
        raise ValueError(f"the column {y!r} holds something else than numbers: {error}") from error
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    axes.plot(_places([row[across] for row in rows]), heights, marker="o" if len(rows) <= 50 else "")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    figure.autofmt_xdate()
    figure.savefig(output, format="png", dpi=100)
    return output


def _places(cells: list[str]) -> list:
    """Numbers or dates where all cells are such, else names."""
    for read in (float, datetime.fromisoformat):
        try:
            return [read(cell) for cell in cells]
        except ValueError:
            continue
    return cells
