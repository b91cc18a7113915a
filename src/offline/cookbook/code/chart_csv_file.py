import pandas as pd
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
        table = pd.read_csv(path, skipinitialspace=True, encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"there is no file {path!r} that can be read") from error
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"there is nothing in {path!r}") from error
    first, *others = list(table.columns)
    drawn = [name for name in others if pd.api.types.is_numeric_dtype(table[name])]
    along = table[first]
    if not drawn and pd.api.types.is_numeric_dtype(along):
        drawn, along = [first], pd.Series(range(1, len(table) + 1))
    if not drawn:
        raise ValueError(f"{path!r} has no column of numbers to draw; the columns are {list(table.columns)}")
    if not pd.api.types.is_numeric_dtype(along):
        along = along.astype(str)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name in drawn:
        axes.plot(along, table[name], label=str(name), marker="o" if len(table) <= 50 else "")
    axes.set_xlabel(str(first))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(output, format="png", dpi=120)
    return output
