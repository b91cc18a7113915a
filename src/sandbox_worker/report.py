"""The outcome of a tool, as data for the host: the value it returned, the exception it raised, or
why it can't be loaded.
"""

import importlib.util
import json
import os
import sys
from datetime import date, time
from enum import Enum
from math import isnan
from types import ModuleType
from typing import Any

from . import codec, tables
from .codec import python_scalar
from .shared_objects import own_frames, record_fields, text_of

TEXT = 20_000
"""Characters of a value that are shown."""
DATA = 8 * 1024 * 1024
"""Characters of a value's JSON."""
_MEASURED = 4 * DATA
"""Characters up to which the size of a larger value is measured."""
_SLICE = 10_000
_DIGITS = 22_500
"""Slightly more than `TEXT`, so that a number that is cut is shown up to there; `_BITS` are always
fewer digits.
"""
_BITS = _DIGITS * 3
_JSON_BITS = 14_000
"""Python parses no number of more than 4300 digits."""
_NESTED = 60
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    dict: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}
_ATOMIC = {type(None), bool, int, float, str, bytes, bytearray}
_MOST = 10**6
"""Parts of a value that are looked at."""
_MISSING = {"NaTType", "NAType"}
"""Types of pandas."""
_LAZY = {"generator", "async_generator", "coroutine"}


def allow_long_numbers() -> None:
    """Let numbers be shown up to the limit of text."""
    sys.set_int_max_str_digits(max(_DIGITS, sys.get_int_max_str_digits()))


def returned(value: Any) -> dict[str, Any]:
    value = python_scalar(value)
    name, data = type(value).__name__, plain_json(value, _MEASURED)
    if data is None and type(value) not in _ATOMIC:
        value = as_tested(value)
        data = plain_json(value, _MEASURED)
    text = _Text(TEXT)
    if type(value) is str:
        text.add(value)
    elif name in _LAZY:
        text.add(f"{_article(name)}, which was not run: {text_of(value, repr, TEXT)}")
    else:
        text.show(value, 0)
    size = len(data or "")
    return {
        "outcome": "returned",
        "type_name": name,
        "text": "".join(text.pieces),
        "data": data if size <= DATA else None,
        "readable": readable_json(value) if data is None else None,
        "too_large": size if size > DATA else 0,
        "truncated": text.cut,
    }


class _Record:
    """Shows a record of the tool's by its fields."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self._name, self._fields = name, fields

    def __repr__(self) -> str:
        return f"{self._name}({', '.join(f'{n}={v!r}' for n, v in self._fields.items())})"


class _Tuple(_Record, tuple[Any, ...]):
    """One that is a tuple."""

    def __new__(cls, name: str, fields: dict[str, Any]) -> "_Tuple":
        return tuple.__new__(cls, fields.values())


def as_tested(value: Any, within: dict[int, Any] | None = None, depth: int = 0) -> Any:
    """The value as the tests of a tool get it: without methods of the tool's, which could show it
    as another one. Objects that are neither plain nor records stay as they are.
    """
    kind, within = type(value), {} if within is None else within
    if kind in _ATOMIC or depth > _NESTED or len(within) > _MOST or id(value) in within:
        return within.get(id(value), (value,))[0]
    within[id(value)] = (value, value)  # the value itself too, so that its number stays its own
    result = value
    if kind in codec.CONTAINERS or kind in codec.MAPPINGS:
        data = kind in codec.MAPPINGS
        items = list(value.items() if data and hasattr(kind, "items") else value)
        tested = [as_tested(item, within, depth + 1) for item in items]
        if any(
            original is not tested_item for original, tested_item in zip(items, tested, strict=True)
        ):
            result = (codec.MAPPINGS[kind] if data else codec.CONTAINERS[kind][1])(tested)
    elif not (_is_known(kind) or issubclass(kind, Enum)):
        base = codec.plain_base(value)
        if names := record_fields(kind):
            fields = {n: as_tested(getattr(value, n, None), within, depth + 1) for n in names}
            result = (_Tuple if issubclass(kind, tuple) else _Record)(kind.__name__, fields)
        elif base is not NotImplemented:
            result = as_tested(base, within, depth)
        elif table := tables.parts_of(value):
            result = tables.rebuild(*table)
    within[id(value)] = (result, value)
    return result


def _is_known(cls: type) -> bool:
    """Whether a class belongs to Python or to a package."""
    module: Any = sys.modules.get(cls.__module__)
    there = os.path.isabs(getattr(module, "__file__", None) or "/")
    return there and getattr(module, cls.__qualname__, None) is cls


def raised(error: BaseException, name: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = f"{name}.py"
    return {
        "outcome": "raised",
        "type_name": type(error).__name__,
        "message": missing_package("code", error) or text_of(error, str),
        "traceback": "\n".join(own_frames(error, module)),
    }


def load_problem(what: str, error: BaseException, filename: str) -> str:
    """Why the `code` or the `tests` can't be loaded."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        line = f": {error.text.strip()}" if error.text else ""
        return f"The {what} has a syntax error in line {error.lineno}: {error.msg}{line}".replace(
            "tests has", "tests have"
        )
    if missing := missing_package(what, error):
        return missing
    module = ModuleType(filename.removesuffix(".py"))
    module.__file__ = filename
    frames = "".join(f"\n{line}" for line in own_frames(error, module))
    return f"The {what} can't be imported: {type(error).__name__}: {text_of(error, str)}{frames}"


def plain_json(value: Any, limit: int = DATA) -> str | None:
    """The value as JSON text; None if JSON can't represent it exactly (tuples count as lists), or
    if it has more characters than `limit`.
    """
    if not _plain(value, [limit], 0):
        return None
    text = _dumped(value)
    return text if len(text) <= limit else None


def _dumped(value: Any) -> str:
    """The JSON of a value, made in slices, since one of millions of items would take as many
    strings at once.
    """
    if type(value) is dict:
        members = (f"{_dumped(key)}: {_dumped(item)}" for key, item in value.items())
        return f"{{{', '.join(members)}}}"
    if type(value) not in (list, tuple) or len(value) <= _SLICE:
        return json.dumps(value, allow_nan=False, default=python_scalar)
    slices = (value[n : n + _SLICE] for n in range(0, len(value), _SLICE))
    return f"[{', '.join(_dumped(items)[1:-1] for items in slices)}]"


def readable_json(value: Any) -> str | None:
    """A value that JSON can't represent exactly, with text in place of what it can't: a table of
    pandas as rows, a date in ISO 8601; NaN within it is null. None for a text, and for what is too
    large.
    """
    if isinstance(value, str | bytes | bytearray) or type(value).__name__ in _LAZY:
        return None
    try:
        return plain_json(_readable(value, 0, [DATA]))
    except Exception:  # noqa: BLE001 - the value's own code runs here and may do anything
        return None


def _readable(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    value = python_scalar(value)
    if budget[0] < 0 or depth > _NESTED:
        raise ValueError("the value is too large")
    if isinstance(value, dict):
        return {
            k if type(k) is str else str(_readable(k, depth + 1, budget)): _readable(
                v, depth + 1, budget
            )
            for k, v in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_readable(item, depth + 1, budget) for item in value]
    if _plain(value, [DATA], depth):
        return value
    if rows := _rows(value):
        return _readable(rows(), depth + 1, budget)
    if depth and (type(value).__name__ in _MISSING or (type(value) is float and isnan(value))):
        return None
    return value.isoformat() if isinstance(value, date | time) else text_of(value, str, TEXT)


def _rows(value: Any) -> Any:
    """The method that gives the plain form of a table, column or array of pandas or numpy."""
    if not _is_known(type(value)):
        return None
    match type(value).__name__:
        case "DataFrame":
            has_index_names = any(name is not None for name in value.index.names)
            return lambda: (value.reset_index() if has_index_names else value).to_dict(
                orient="records"
            )
        case "Series":
            return value.to_dict
        case "ndarray":
            return value.tolist
    return None


def _plain(value: Any, budget: list[int], depth: int) -> bool:
    """Whether the value is plain JSON and not certainly too large; `budget` counts down over the
    whole value.
    """
    budget[0] -= len(value) if type(value) is str else 2
    if budget[0] < 0 or depth > _NESTED:
        return False
    kind = type(value := python_scalar(value))
    if kind is int:
        return bool(value.bit_length() < _JSON_BITS)
    if kind is float:
        return bool(value - value == 0)
    if kind in (list, tuple):
        return all(_plain(item, budget, depth + 1) for item in value)
    if kind is dict:
        return all(
            type(k) is str and _plain(k, budget, depth + 1) and _plain(v, budget, depth + 1)
            for k, v in value.items()
        )
    return value is None or kind is bool or (kind is str and _is_whole(value))


def _is_whole(text: str) -> bool:
    """Whether the text has no lone surrogate, which files, sockets and databases refuse."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name.replace('_', ' ')}"


class _Text:
    """The `repr` of a value, written up to a limit, so that large values are not costly."""

    def __init__(self, limit: int) -> None:
        self.pieces: list[str] = []
        self.budget = limit
        self.cut = False

    def add(self, piece: str) -> None:
        if self.budget >= 0:
            self.pieces.append(piece[: self.budget])
            self.budget -= len(piece)
            self.cut |= self.budget < 0

    def stand_in(self, piece: str) -> None:
        """Add words in place of a part that is too large to show."""
        self.cut = True
        self.add(piece)

    def show(self, value: Any, depth: int) -> None:
        kind = type(value := python_scalar(value))
        if self.budget < 0:
            return
        if depth > _NESTED:
            self.stand_in("...")
        elif kind in _BRACKETS and value:
            self._show_items(value, kind, depth)
        elif kind is int and value.bit_length() > _BITS:
            self.stand_in(f"<an integer of {value.bit_length()} bits>")
        elif kind in (str, bytes, bytearray):
            self.add(repr(value[: self.budget + 1]))
        else:
            self.add(text_of(value, repr, self.budget + 1))

    def _show_items(self, value: Any, kind: type, depth: int) -> None:
        opening, closing = _BRACKETS[kind]
        self.add(opening)
        for number, item in enumerate(value):
            if self.budget < 0:
                return
            self.add(", " if number else "")
            self.show(item, depth + 1)
            if kind is dict:
                self.add(": ")
                self.show(value[item], depth + 1)
        self.add(",)" if kind is tuple and len(value) == 1 else closing)


_CAUSES = 5
"""How many causes of an error are followed; pandas wraps the error of a missing package."""


def missing_package(what: str, error: BaseException) -> str:
    """A sentence that names the package that the `code` or the `tests` need and the sandbox lacks;
    else "".

    A missing module of the tool itself, or of a package that is present, does not count.
    """
    package = _missing(error)
    if not package:
        return ""
    needs = f"The {what} need{'s' if what == 'code' else ''}"
    if package in sys.stdlib_module_names:
        return (
            f"{needs} the module `{package}` of the standard library, which the sandbox's "
            "Python was built without."
        )
    return f"{needs} the package `{package}`, which the sandbox does not have. {offer()}"


def offer() -> str:
    """A sentence on what the sandbox has."""
    packages = os.environ.get("SANDBOX_PACKAGES", "").split()
    return (
        f"It has {', '.join(packages)} and the standard library."
        if packages
        else "It has the standard library."
    )


def _missing(error: BaseException | None) -> str:
    """The package whose import failed, "" if none did."""
    for _ in range(_CAUSES):
        if not isinstance(error, ImportError):
            break
        name = error.name if isinstance(error, ModuleNotFoundError) else None
        package = name.partition(".")[0] if isinstance(name, str) else ""
        if package:
            return (
                ""
                if package in sys.modules or importlib.util.find_spec(package) is not None
                else package
            )
        error = error.__cause__ or error.__context__
    return ""
