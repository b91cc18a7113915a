import csv
import io
import math


def sum_csv_column(csv_text: str, column: str) -> float:
    """Add up a numeric column of a CSV text with a header.

    Args:
        csv_text: The table; its first line names the columns.
        column: Name of the column.

    Returns:
        The sum; empty cells count as nothing.

    Raises:
        ValueError: There is no such column, or one of its cells is not a number.
    """
    rows = [row for row in csv.reader(io.StringIO(csv_text.strip("\n"), newline="")) if row]
    header = [name.strip() for name in rows[0]] if rows else []
    if column not in header:
        raise ValueError(f"there is no column {column!r}; the columns are {header}")
    index = header.index(column)
    cells = [row[index].strip() for row in rows[1:] if index < len(row) and row[index].strip()]
    try:
        return sum(map(int, cells)) if all(cell.lstrip("+-").isdecimal() for cell in cells) else math.fsum(map(float, cells))
    except ValueError as error:
        raise ValueError(f"a cell of column {column!r} is not a number: {error}") from error
