import csv
import io


def count_csv_rows(csv_text: str, has_header: bool = True) -> int:
    """Count the rows of a CSV text, without its header.

    Args:
        csv_text: The table; empty lines do not count.
        has_header: Whether the first line names the columns and so does not count.

    Returns:
        The number of rows.
    """
    rows = sum(any(cell.strip() for cell in row) for row in csv.reader(io.StringIO(csv_text, newline="")))
    return max(0, rows - 1) if has_header else rows
