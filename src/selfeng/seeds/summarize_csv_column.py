"""The figures of one column of a CSV table."""

import csv
import io
import math

_DELIMITERS = ",;\t|"


def summarize_csv_column(csv_text: str, column: str) -> dict[str, float | None]:
    """Summarize a numeric column of a CSV text with a header by its count, missing cells, sum, mean, minimum and maximum.

    Returns:
        The figures by name; mean, minimum and maximum are null where no cell has a value.

    Raises:
        ValueError: the text has no header, no such column, or a cell of the column is not a number.
    """
    header, rows = _table(csv_text)
    index = _position(header, column)
    values, missing = [], 0
    for line, row in enumerate(rows, start=2):
        cell = row[index].strip() if index < len(row) else ""
        if cell:
            values.append(_number(cell, column, line))
        else:
            missing += 1
    total = sum(values) if all(isinstance(v, int) for v in values) else math.fsum(values)
    return {
        "count": len(values),
        "missing": missing,
        "sum": total,
        "mean": total / len(values) if values else None,
        "minimum": min(values) if values else None,
        "maximum": max(values) if values else None,
    }


def _table(csv_text: str) -> tuple[list[str], list[list[str]]]:
    text = csv_text.lstrip("\ufeff\n\r ")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(cell.strip() for cell in row)]
    if not rows:
        raise ValueError("the CSV text is empty; its first line must name the columns")
    return [name.strip() for name in rows[0]], rows[1:]


def _position(header: list[str], column: str) -> int:
    """Where the column is: by its exact name, else by the only one that differs in capitals."""
    if column.strip() in header:
        return header.index(column.strip())
    alike = [i for i, name in enumerate(header) if name.casefold() == column.strip().casefold()]
    if len(alike) != 1:
        raise ValueError(f"there is no column {column!r}; the columns are {', '.join(header)}")
    return alike[0]


def _number(cell: str, column: str, line: int) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{cell!r} in line {line}, column {column!r}, is not a number")
    return int(cell) if cell.lstrip("+-").isdecimal() else value
