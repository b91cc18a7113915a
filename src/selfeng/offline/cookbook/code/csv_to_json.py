import csv
import io
import json


def csv_to_json(csv_text: str) -> str:
    """Convert a CSV text with a header to a JSON list of objects.

    Args:
        csv_text: The table; its first line names the columns.

    Returns:
        The JSON text, with one object a row and all values as strings.

    Raises:
        ValueError: The text is empty, or a row has another number of cells than the header.
    """
    rows = [row for row in csv.reader(io.StringIO(csv_text.strip("\n"), newline="")) if row]
    if not rows:
        raise ValueError("the CSV text is empty; its first line must name the columns")
    header = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, but there are {len(header)} columns: {row}")
    records = [dict(zip(header, map(str.strip, row), strict=True)) for row in rows[1:]]
    return json.dumps(records, ensure_ascii=False)
