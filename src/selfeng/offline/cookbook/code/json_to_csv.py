import csv
import io
import json
from typing import Any


def json_to_csv(json_text: str) -> str:
    """Convert a JSON list of objects to a CSV text with a header.

    Args:
        json_text: A list of objects; their keys become columns in the order of first appearance.

    Returns:
        The CSV text, one line an object; missing values are empty, nested ones are JSON.

    Raises:
        ValueError: The text is not JSON, or not a list of objects.
    """
    try:
        records = json.loads(json_text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the text is not valid JSON: {error}") from error
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ValueError("only a JSON list of objects can become a table")
    columns = list(dict.fromkeys(key for record in records for key in record))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if columns:
        writer.writerow(columns)
    writer.writerows([_cell(record.get(column)) for column in columns] for record in records)
    return out.getvalue().rstrip("\n")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
