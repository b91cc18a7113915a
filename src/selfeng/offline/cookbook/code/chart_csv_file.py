import csv

from matplotlib.figure import Figure


def chart_csv_file(path: str, output: str = "chart.png") -> str:
    """Draw the numeric columns of a CSV file as lines over its first column and write the chart as a PNG picture.

    Args:
        path: Name of the file.
        output: Name of the picture.

    Returns:
        The name of the picture.

    Raises:
        ValueError: There is no such file, or no column of numbers in it.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except OSError as error:
        raise ValueError(f"there is no file {path!r} that can be read") from error
    header = rows[0] if rows else []
    columns = {name: [row[number] for row in rows[1:] if len(row) == len(header)] for number, name in enumerate(header)}
    lines = {name: numbers for name, cells in columns.items() if (numbers := _numbers(cells))}
    along = lines.get(header[0], columns[header[0]]) if header else []
    if len(lines) > 1 or (header and header[0] not in lines):
        lines.pop(header[0], None)
    else:
        along = list(range(1, len(along) + 1))
    if not lines:
        raise ValueError(f"{path!r} has no column of numbers to draw; the columns are {header}")
    figure = Figure(figsize=(8, 4.5))
    axes = figure.subplots()
    for name, numbers in lines.items():
        axes.plot(along, numbers, label=name, marker="o" if len(numbers) <= 50 else "")
    axes.set_xlabel(header[0])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.autofmt_xdate()
    figure.savefig(output, format="png", dpi=100)
    return output


def _numbers(cells: list[str]) -> list[float]:
    """The cells as numbers, nothing where one is none; an empty cell leaves a gap."""
    try:
        return [float(cell or "nan") for cell in cells]
    except ValueError:
        return []
