import csv
import io


def sort_csv(csv_text: str, column: str, descending: bool = False) -> str:
    """Sort the rows of a CSV text with a header by one column.

    Args:
        csv_text: The table; its first line names the columns.
        column: Name of the column to sort by: by size where all its cells are numbers, else by alphabet.
        descending: Whether the greatest comes first.

    Returns:
        The table with its rows in order.

    Raises:
        ValueError: There is no such column, or a row has too few cells.
    """
    rows = [row for row in csv.reader(io.StringIO(csv_text.strip("\n"), newline="")) if row]
    header = [name.strip() for name in rows[0]] if rows else []
    if column not in header:
        raise ValueError(f"there is no column {column!r}; the columns are {header}")
    index = header.index(column)
    for row in rows[1:]:
        if index >= len(row):
            raise ValueError(f"the row {row} has no cell for column {column!r}")
    cells = [row[index] for row in rows[1:]]
    rows[1:] = sorted(rows[1:], key=lambda row: _key(row[index], all(map(_is_number, cells))), reverse=descending)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _key(cell: str, numeric: bool) -> tuple[float, str]:
    return (float(cell), "") if numeric else (0.0, cell.strip().casefold())
