"""A report on a table of sales: sums by month, as text and as a plot."""

import csv


def read_rows(path):
    """The rows of a CSV file with a head, as dictionaries."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def totals(rows, column):
    """The sum of `amount` for each value of a column, in the order in which the values come first."""
    sums = {}
    for row in rows:
        sums[row[column]] = sums.get(row[column], 0.0) + float(row["amount"])
    return sums


def as_markdown(title, sums):
    """The sums as a table in Markdown, with their total."""
    lines = [f"# {title}", "", "| | amount |", "|---|---:|"]
    lines += [f"| {name} | {amount:.2f} |" for name, amount in sums.items()]
    lines += [f"| total | {sum(sums.values()):.2f} |"]
    return "\n".join(lines) + "\n"


def draw(title, sums, path):
    """Write the sums as a bar chart into a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar(list(sums), list(sums.values()))
    axes.set_title(title)
    axes.set_ylabel("amount")
    figure.savefig(path, dpi=100, metadata={"Software": None})
