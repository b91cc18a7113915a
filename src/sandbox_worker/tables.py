"""Arrays of numpy and tables of pandas as plain data, and back: they pass between the processes as
values, so that no comparison of theirs runs in the tool's process.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def parts_of(value: Any) -> tuple[str, Any] | None:
    """The kind of an array, column, index or table, and its content made of lists and scalars; None
    for any other value.
    """
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy and isinstance(value, numpy.ndarray):
        kind = value.dtype.kind
        flat = (value.astype(str) if kind in "Mm" else value).ravel().tolist()
        return "ndarray", [value.dtype.str, list(value.shape), flat]
    if not pandas:
        return None
    if isinstance(value, pandas.Index):
        items = [tuple(map(_scalar, i)) if isinstance(i, tuple) else _scalar(i) for i in value]
        return "Index", [str(value.dtype), list(value.names), items]
    if isinstance(value, pandas.Series):
        return "Series", [
            str(value.dtype),
            value.name,
            parts_of(value.index)[1],  # type: ignore[index]
            [_scalar(item) for item in value],
        ]
    if isinstance(value, pandas.DataFrame):
        columns = [value.iloc[:, n] for n in range(value.shape[1])]
        content = [[str(c.dtype), [_scalar(item) for item in c]] for c in columns]
        return "DataFrame", [parts_of(value.columns)[1], parts_of(value.index)[1], content]  # type: ignore[index]
    return None


def rebuild(kind: str, content: Any) -> Any:
    """The value that `parts_of` took apart."""
    return _WHOLE[kind](content)


def _scalar(item: Any) -> Any:
    """None for what pandas has in place of a missing value, except NaN."""
    missing = type(item).__name__ in ("NaTType", "NAType")
    return None if missing else item


def _array(content: Any) -> Any:
    np = import_module("numpy")
    dtype, shape, flat = content
    array = np.empty(len(flat), np.dtype(dtype))
    array[:] = np.array(flat, dtype) if dtype != "|O" else flat
    return array.reshape(shape)


def _index(content: Any) -> Any:
    pd = import_module("pandas")
    dtype, names, items = content
    if len(names) > 1:
        return pd.MultiIndex.from_tuples(items, names=names)
    return pd.Index(items, dtype=dtype, name=names[0])


def _series(content: Any) -> Any:
    dtype, name, index, items = content
    return import_module("pandas").Series(items, index=_index(index), dtype=dtype, name=name)


def _frame(content: Any) -> Any:
    pd = import_module("pandas")
    names, index, columns = content
    rows = _index(index)
    series = [pd.Series(items, index=rows, dtype=dtype) for dtype, items in columns]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=rows)
    frame.columns = _index(names)
    return frame


_WHOLE: dict[str, Callable[[Any], Any]] = {
    "ndarray": _array,
    "Index": _index,
    "Series": _series,
    "DataFrame": _frame,
}
KINDS = frozenset(_WHOLE)
