"""Plain values on their way between the tool's process and the tests'."""

import json
import math
import pathlib
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from sandbox_worker.codec import NotPlain, decode, encode, plain_base, write_back


def through(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(10**300),
        0.1,
        math.inf,
        -0.0,
        "",
        "a\ud800\0ü",
        b"\0\xff",
        bytearray(b"x"),
        complex(1, -0.5),
        [],
        [1, [2, (3,)]],
        {1, "a"},
        frozenset({(1, 2)}),
        {1: "a", (2, 3): None, "c": {"d": []}},
        OrderedDict(b=1, a=2),
        Counter("abca"),
        deque([1, 2]),
        defaultdict(None, {"a": [1]}),
        Decimal("1.10"),
        Decimal("NaN"),
        Fraction(1, 3),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=-3))),
        time(1, 2),
        timedelta(days=-1, microseconds=5),
        UTC,
        uuid.UUID(int=5),
        pathlib.PurePosixPath("/a/b"),
        range(10**20, 0, -1),
        ...,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_arrive_as_they_were(value: Any) -> None:
    got = through(value)
    assert type(got) is type(value)
    assert repr(got) == repr(value)


def test_a_number_longer_than_python_prints_arrives() -> None:
    assert through(10**6000 + 1) == 10**6000 + 1


def test_not_a_number_arrives() -> None:
    assert math.isnan(through(math.nan))


def test_views_of_a_mapping_arrive() -> None:
    mapping = {"a": 1, "b": 2}
    assert [
        list(through(view)) for view in (mapping.keys(), mapping.values(), mapping.items())
    ] == [
        ["a", "b"],
        [1, 2],
        [("a", 1), ("b", 2)],
    ]


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__

    def __int__(self) -> int:
        return 41


class Shout(str):
    def __str__(self) -> str:
        return "something else"


def test_derived_classes_become_what_they_derive_from() -> None:
    got = [
        plain_base(v)
        for v in (Liar(7), Shout("a"), type("L", (list,), {})([1]), type("D", (dict,), {})(a=1))
    ]
    assert got == [7, "a", [1], {"a": 1}]
    assert [type(v) for v in got] == [int, str, list, dict]
    assert plain_base(object()) is NotImplemented


def test_what_is_not_plain_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (object(), len, endless, [lambda: 1], Liar(1)):
        with pytest.raises(NotPlain):
            encode(value)


@pytest.mark.parametrize(
    "data",
    [
        ["list"],
        ["nonsense", 1],
        ["set", [["list", []]]],
        ["dict", [1]],
        ["int", "x"],
        ["Fraction", ["0x1", "0x0"]],
        ["date", "2024"],
        {},
        [[], []],
        ["Decimal", "x"],
    ],
)
def test_data_that_no_encoder_made_is_refused(data: Any) -> None:
    with pytest.raises(NotPlain):
        decode(data)


def test_data_that_is_nested_too_deeply_is_refused() -> None:
    data: Any = ["list", []]
    for _ in range(400):
        data = ["list", [data]]
    with pytest.raises(NotPlain, match="too deeply"):
        decode(data)


def test_changes_are_written_back_in_place() -> None:
    inner = [1]
    given: list[Any] = [inner, {"a": inner, "b": 2}, {1}, bytearray(b"x")]
    write_back(given, [[1, 2], {"a": [1, 2]}, {1, 3}, bytearray(b"xy")])
    assert given == [[1, 2], {"a": [1, 2]}, {1, 3}, bytearray(b"xy")]
    assert given[0] is inner
    assert given[1]["a"] is inner


def test_a_container_of_another_length_is_written_back_whole() -> None:
    given = [3, 1, 2]
    write_back(given, [1])
    assert given == [1]
