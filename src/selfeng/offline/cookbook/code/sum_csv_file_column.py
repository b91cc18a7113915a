import csv
import math


def sum_csv_file_column(path: str, column: str) -> float:
    """Add up a numeric column of a CSV file with a header.

    Args:
        path: Name of the file.
        column: Name of the column.

    Returns:
        The sum; empty cells count as nothing.

    Raises:
        ValueError: There is no such file or column, or one of its cells is not a number.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise ValueError(f"there is no file {path!r} that can be read") from error
    header = [name.strip() for name in rows[0]] if rows else []
    if column not in header:
        raise ValueError(f"there is no column {column!r}; the columns are {header}")
    index = header.index(column)
    cells = [row[index].strip() for row in rows[1:] if index < len(row) and row[index].strip()]
    try:
        return sum(map(int, cells)) if all(cell.lstrip("+-").isdecimal() for cell in cells) else math.fsum(map(float, cells))
    except ValueError as error:
        raise ValueError(f"a cell of column {column!r} is not a number: {error}") from error
