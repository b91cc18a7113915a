"""Boundary values: the extremes of the types of a call's arguments, substituted one at a time.

They stay within what the calls show, as mutations do, except that zero and empty values are always
tried; `is_unusual` recognises those.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfeng.synthesis.inputs import LARGEST, Arguments, ValueKind, kinds_of

_CALLS = 3
"""Number of calls with arguments to vary."""
_INTEGERS = (0, 1, 2, 3, 10, 11, 100, 1000, -1, -2)
_FLOATS = (0.0, 0.1, 0.5, 1.0, 1.5, 2.5, 10.0, 99.99, 1000.0, -0.5, -1.0)
_CHARACTERS = 8
_ELEMENTS = 8
"""Boundary values of an element to try in a list."""
_LENGTHS = (30, 101, 211)
"""Lengths of texts and lists made by repetition, more than tables in code hold."""


def boundaries(calls: Sequence[Arguments]) -> list[Arguments]:
    """Inputs that are not among the calls, without duplicates."""
    kinds, known = kinds_of(calls), {repr(call) for call in calls}
    tried = [
        {**call, name: end}
        for call in calls[:_CALLS]
        for name, value in call.items()
        for end in _ends(value, kinds[name])
        if kinds[name].shows(end)
    ]
    return list(
        {
            text: one for one in tried if len(text := repr(one)) <= LARGEST and text not in known
        }.values()
    )


def is_unusual(arguments: Arguments, kinds: Mapping[str, ValueKind]) -> bool:
    """Whether an argument has a zero or something empty where no call has any."""
    return any(kinds[name].lacks(value) for name, value in arguments.items())


def _ends(value: Any, kind: ValueKind) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (*_INTEGERS, int(2 * kind.largest), int(10 * kind.largest) + 1)
        case float():
            yield from _FLOATS
        case str():
            yield from (
                "",
                *kind.alphabet[:_CHARACTERS],
                *(2 * c for c in kind.alphabet[:_CHARACTERS]),
            )
            yield from ((value * length)[:length] for length in _LENGTHS if value)
        case list() | tuple():
            yield from (type(value)(items) for items in _lists(list(value), kind))
        case set():
            yield set()
        case dict():
            yield from _mappings(value, kind)


def _lists(items: list[Any], kind: ValueKind) -> Iterator[list[Any]]:
    yield []
    yield from ((items * length)[:length] for length in _LENGTHS if items)
    items = items or list(kind.elements[:1])
    for first in items[:1]:
        yield from ([first], 3 * [first], 6 * [first])
        for end in list(_ends(first, kind))[:_ELEMENTS]:
            yield from ([end], [end, end], [first, end], [end, first], [*items, end])


def _mappings(items: Mapping[Any, Any], kind: ValueKind) -> Iterator[dict[Any, Any]]:
    yield {}
    for key, value in list(items.items())[:2]:
        yield {key: value}
        yield from ({**items, key: end} for end in _ends(value, kind))
