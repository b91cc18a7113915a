"""Boundary values: the extremes of the types of a call's arguments, one at a time, and the least of
all arguments at once.

They stay within what the calls show, as mutations do, except that zero and empty values are always
tried; `is_unusual` recognises those.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfeng.synthesis.inputs import LARGEST, Arguments, ValueKind, kinds_of

_CALLS = 5
"""Number of calls with arguments to vary."""
_MOST = 400
"""Maximum number of inputs with one boundary value; half as many have several."""
_LEAST = 4
"""Number of boundary values of each argument to combine."""
_LADDER = sorted(
    {*range(13), *(b**k + d for b in (2, 10) for k in range(1, 14) for d in (-1, 0, 1))}
)
"""Small integers, and the powers of two and of ten with their neighbours."""
_INTEGERS = [n for n in _LADDER if n <= 10_001]
_LENGTHS = [n for n in _LADDER if 1 < n <= 513]
_CHARACTERS = 12
_ELEMENTS = 40


def boundaries(calls: Sequence[Arguments]) -> list[Arguments]:
    """Inputs without duplicates, the same ones for the same calls."""
    kinds, varied, chance = kinds_of(calls), calls[:_CALLS], random.Random(0)
    ends = {
        name: list(
            {
                repr(end): end
                for call in varied
                if name in call
                for end in _ends(call[name], kind, chance)
                if kind.shows(end)
            }.values()
        )
        for name, kind in kinds.items()
    }
    single = [
        {**chance.choice(varied), name: end} for name, values in ends.items() for end in values
    ]
    several = [
        {name: chance.choice(ends[name][:_LEAST] or [value]) for name, value in call.items()}
        for call in chance.choices(varied, k=_MOST // 2 if any(varied) else 0)
    ]
    inputs = (*chance.sample(single, min(_MOST, len(single))), *several)
    return list({text: call for call in inputs if len(text := repr(call)) <= LARGEST}.values())


def is_unusual(arguments: Arguments, kinds: Mapping[str, ValueKind]) -> bool:
    """Whether an argument has a zero or something empty where no call has any."""
    return any(kinds[name].lacks(value) for name, value in arguments.items())


def _ends(value: Any, kind: ValueKind, chance: random.Random) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            beyond = (int(by * min(kind.largest, _LADDER[-1])) for by in (2, 10))
            signed = [sign * n for n in (*_INTEGERS, *beyond) for sign in (1, -1)]
            yield from (
                signed if isinstance(value, int) else (n / by for n in signed for by in (1, 2, 100))
            )
        case str():
            yield from ("", value[::-1], value[1:], value[:-1])
            yield from (n * c for c in kind.alphabet[:_CHARACTERS] for n in (1, 2, 5))
            yield from ((value * n)[:n] for n in _LENGTHS if value)
        case list() | tuple():
            ends = _lists(list(value), kind, chance)
            yield from (type(value)(sorted(items) if kind.ordered else items) for items in ends)
        case set():
            yield set()
        case dict():
            yield {}
            for key, inner in list(value.items())[:2]:
                yield {key: inner}
                yield from ({**value, key: end} for end in _ends(inner, kind, chance))


def _lists(items: list[Any], kind: ValueKind, chance: random.Random) -> Iterator[list[Any]]:
    yield from ([], items[::-1], items[1:], items[:-1])
    yield from ((items * n)[:n] for n in _LENGTHS if items)
    items = items or list(kind.elements[:1])
    for first in items[:1]:
        ends = list(_ends(first, kind, chance))
        for end in (first, *chance.sample(ends, min(_ELEMENTS, len(ends)))):
            place = chance.randrange(len(items) + 1)
            yield from ([end], [end] * chance.choice((2, 3, 5)))
            yield from ([*items[:place], end, *items[place + n :]] for n in (0, 1))
