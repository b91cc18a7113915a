"""Plain values as JSON, for passing between the tool's process and the tests' process.

Values arrive as exact built-in types, so a value from a tool can't bring its own `__eq__`. There is
no pickle: a decoder only ever builds the types listed here, and leaves what lies `beyond` them to
the side that decodes.

Scalars of JSON stand for themselves, everything else is `[tag, payload]`.
"""

import math
import pathlib
import sys
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import EllipsisType
from typing import Any

DEPTH = 200
"""The deepest nesting of containers that may pass; it stops cycles too."""

_SMALL_INT = 2**63

Beyond = Callable[[Any, int], Any]
"""Encodes or decodes values that are not listed here; gets the value and its depth. Raises:
NotPlain: the value can't pass.
"""


class NotPlain(Exception):
    """The value can't pass between the processes."""


def _refuse(value: Any, depth: int) -> Any:
    raise NotPlain(f"a value of type {type(value).__name__} can't pass to the other process")


CONTAINERS: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    list: (list, list),
    tuple: (list, tuple),
    set: (list, set),
    frozenset: (list, frozenset),
    deque: (list, deque),
    type({}.keys()): (list, lambda items: dict.fromkeys(items).keys()),
    type({}.values()): (list, lambda items: dict(enumerate(items)).values()),
}
MAPPINGS: dict[type, Callable[[Any], Any]] = {
    dict: dict,
    OrderedDict: OrderedDict,
    defaultdict: lambda items: defaultdict(None, items),
    Counter: lambda items: Counter(dict(items)),
    type({}.items()): lambda items: dict(items).items(),
}
_OF_FRACTION = [vars(Fraction)[name] for name in ("_numerator", "_denominator")]
ATOMS: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    bytes: (bytes.hex, bytes.fromhex),
    bytearray: (bytearray.hex, bytearray.fromhex),
    complex: (lambda v: [repr(v.real), repr(v.imag)], lambda p: complex(float(p[0]), float(p[1]))),
    Decimal: (Decimal.__str__, Decimal),
    Fraction: (
        lambda v: [hex(part.__get__(v)) for part in _OF_FRACTION],
        lambda p: Fraction(int(p[0], 16), int(p[1], 16)),
    ),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    date: (date.isoformat, date.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (lambda v: [v.days, v.seconds, v.microseconds], lambda p: timedelta(*p)),
    timezone: (
        lambda v: v.utcoffset(None).total_seconds(),
        lambda p: timezone(timedelta(seconds=p)),
    ),
    uuid.UUID: (str, uuid.UUID),
    pathlib.PosixPath: (str, pathlib.PosixPath),
    pathlib.PurePosixPath: (str, pathlib.PurePosixPath),
    range: (
        lambda v: [hex(v.start), hex(v.stop), hex(v.step)],
        lambda p: range(*(int(n, 16) for n in p)),
    ),
    EllipsisType: (lambda v: "", lambda p: ...),
}
BY_NAME: dict[str, type] = {t.__name__: t for t in (*CONTAINERS, *MAPPINGS, *ATOMS)}
_BASES = (
    str,
    int,
    float,
    complex,
    bytes,
    bytearray,
    dict,
    list,
    tuple,
    set,
    frozenset,
    deque,
    Decimal,
    Fraction,
    datetime,
    date,
    time,
    timedelta,
)


def encode(value: Any, beyond: Beyond = _refuse, depth: int = 0) -> Any:
    """The value as JSON data.

    Raises:
        NotPlain: the value, or one inside it, can't pass.
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_SMALL_INT < value < _SMALL_INT else ["int", hex(value)]
    if kind is float:
        return value if math.isfinite(value) else ["float", repr(value)]
    if depth >= DEPTH:
        raise NotPlain(
            f"a value nested more than {DEPTH} levels deep can't pass to the other process"
        )
    if kind in ATOMS:
        return [kind.__name__, ATOMS[kind][0](value)]
    if kind in CONTAINERS:
        return [
            kind.__name__,
            [encode(item, beyond, depth + 1) for item in CONTAINERS[kind][0](value)],
        ]
    if kind in MAPPINGS:
        pairs = list(value) if kind is type({}.items()) else list(value.items())
        return [
            kind.__name__,
            [[encode(k, beyond, depth + 1), encode(v, beyond, depth + 1)] for k, v in pairs],
        ]
    return beyond(value, depth)


def plain_base(value: Any) -> Any:
    """A value of a class derived from a plain type, as that type; NotImplemented for any other
    value.

    The conversions are those of the base type, even if the class overrides them.
    """
    for base in _BASES:
        if issubclass(type(value), base):  # whatever it says of its class
            return _as_base(value, base)
    scalar = python_scalar(value)
    return NotImplemented if scalar is value else scalar


def python_scalar(value: Any) -> Any:
    """Python's own number, boolean or date for one of numpy's; any other value unchanged."""
    generic = getattr(sys.modules.get("numpy"), "generic", ())
    plain = generic.item(value) if generic and issubclass(type(value), generic) else value
    return (
        value if isinstance(plain, generic) else plain
    )  # there is no plain number for a `longdouble`


def _as_base(value: Any, base: type) -> Any:
    if base is str:
        return str.__str__(value)
    if base is int:
        return int.__int__(value)
    if base is float:
        return float.__float__(value)
    if base is dict:
        return dict(dict.items(value))
    if base in (complex, timedelta):
        return base.__pos__(value)
    if base in (list, tuple, set, frozenset, bytes, bytearray, deque):
        iterate: Any = base.__iter__
        return base(iterate(value))
    atoms = ATOMS[base]
    return atoms[1](atoms[0](value))


def decode(data: Any, beyond: Beyond = _refuse) -> Any:
    """The value that `encode` turned into `data`.

    Raises:
        NotPlain: the data is not from `encode`, or nested too deeply.
    """
    try:
        return _decode(data, beyond, 0)
    except (
        ValueError,
        TypeError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        raise NotPlain(f"what arrived is no encoded value: {error}") from error


def _decode(data: Any, beyond: Beyond, depth: int) -> Any:
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if depth > DEPTH:
        raise NotPlain("what arrived is nested too deeply")
    tag, payload = data
    if tag == "int":
        return int(payload, 16)
    if tag == "float":
        return float(payload)
    kind = BY_NAME.get(tag)
    if kind is None:
        return beyond(data, depth)
    if kind in ATOMS:
        return ATOMS[kind][1](payload)
    if kind in CONTAINERS:
        return CONTAINERS[kind][1]([_decode(item, beyond, depth + 1) for item in payload])
    return MAPPINGS[kind](
        [(_decode(k, beyond, depth + 1), _decode(v, beyond, depth + 1)) for k, v in payload]
    )


def write_back(original: Any, changed: Any) -> None:
    """Change the mutable container `original`, and those within it, to equal `changed`."""
    if isinstance(original, list) and isinstance(changed, list):
        _write_back_items(original, changed)
        original[:] = _with_originals(original, changed)
    elif isinstance(original, dict) and isinstance(changed, dict):
        for key, value in changed.items():
            if key in original:
                write_back(original[key], value)
        pairs = [
            (k, original[k] if k in original and _same(original[k], v) else v)
            for k, v in changed.items()
        ]
        original.clear()
        original.update(pairs)
    elif isinstance(original, tuple) and isinstance(changed, tuple):
        _write_back_items(original, changed)
    elif isinstance(original, set) and isinstance(changed, set):
        original.clear()
        original.update(changed)
    elif isinstance(original, bytearray | deque) and type(original) is type(changed):
        original.clear()
        original.extend(changed)


def _write_back_items(
    original: list[Any] | tuple[Any, ...], changed: list[Any] | tuple[Any, ...]
) -> None:
    if len(original) == len(changed):
        for old, new in zip(original, changed, strict=True):
            write_back(old, new)


def _with_originals(original: list[Any], changed: list[Any]) -> list[Any]:
    """`changed`, with the original objects where they are now equal, to preserve their identity."""
    if len(original) != len(changed):
        return changed
    return [old if _same(old, new) else new for old, new in zip(original, changed, strict=True)]


def _same(old: Any, new: Any) -> bool:
    return (
        type(old) is type(new)
        and isinstance(old, list | dict | set | bytearray | deque)
        and bool(old == new)
    )
