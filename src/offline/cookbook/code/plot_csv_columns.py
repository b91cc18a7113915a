import pandas as pd
from matplotlib.figure import Figure


def plot_csv_columns(path: str, x: str, y: str, output: str = "plot.png") -> str:
    """Plot one column of a CSV file against another and write the chart as a PNG picture.

    Args:
        path: Name of the file.
        x: Name of the column along the horizontal axis: numbers, dates or names.
        y: Name of the column along the vertical axis, of numbers.
        output: Name of the picture.

    Returns:
        The name of the picture.

    Raises:
        ValueError: There is no such file or column, or what is to be plotted is not a number.
    """
    try:
        table = pd.read_csv(path, skipinitialspace=True, encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"there is no file {path!r} that can be read") from error
    table.columns = [str(name).strip() for name in table.columns]
    for name in (x, y):
        if name not in table.columns:
            raise ValueError(f"there is no column {name!r}; the columns are {list(table.columns)}")
    if not pd.api.types.is_numeric_dtype(table[y]):
        raise ValueError(f"the column {y!r} holds something else than numbers")
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(_positions(table[x]), table[y], marker="o" if len(table) <= 50 else "")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    figure.savefig(output, format="png", dpi=120)
    return output


def _positions(column: pd.Series) -> pd.Series:
    """Numbers and dates as such, anything else as names."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    try:
        return pd.to_datetime(column, format="ISO8601")
    except ValueError:
        return column.astype(str)
