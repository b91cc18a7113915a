"""What a tool did, as data: every kind of value can be shown, and nothing is larger than its
limit.
"""

import json
import math
import sys
from decimal import Decimal
from typing import Any

import pytest

from selfeng.sandboxes.worker import report


class Broken:
    def __repr__(self) -> str:
        raise ValueError("no")


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def numbers() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("value", "type_name", "text", "data"),
    [
        (0, "int", "0", "0"),
        ("", "str", "", '""'),
        (False, "bool", "False", "false"),
        (None, "NoneType", "None", "null"),
        (math.nan, "float", "nan", None),
        (-math.inf, "float", "-inf", None),
        ("a\ud800", "str", "a\ud800", None),
        ((1,), "tuple", "(1,)", "[1]"),
        ([], "list", "[]", "[]"),
        ({"a": [1, {"b": ()}]}, "dict", "{'a': [1, {'b': ()}]}", '{"a": [1, {"b": []}]}'),
        ({1: 2}, "dict", "{1: 2}", None),
        ({5}, "set", "{5}", None),
        (frozenset({5}), "frozenset", "frozenset({5})", None),
        (frozenset(), "frozenset", "frozenset()", None),
        (b"\0a", "bytes", "b'\\x00a'", None),
        (Decimal("1.50"), "Decimal", "Decimal('1.50')", None),
        (Broken(), "Broken", "<Broken that can't be shown: ValueError>", None),
        ([Broken()], "list", "[<Broken that can't be shown: ValueError>]", None),
    ],
    ids=lambda value: ascii(value) if isinstance(value, str) else None,
)
def test_values_are_shown_and_given_as_json_where_json_can_say_them(
    value: Any, type_name: str, text: str, data: str | None
) -> None:
    assert report.returned(value) == {
        "outcome": "returned",
        "type_name": type_name,
        "text": text,
        "data": data,
        "truncated": False,
    }


def test_numbers_without_end_are_described() -> None:
    got = report.returned(10**30_000)
    assert (got["text"], got["data"]) == ("<an integer of 99658 bits>", None)


def test_a_generator_is_named_and_not_run() -> None:
    got = report.returned(numbers())
    assert got["text"].startswith("a generator, which was not run: <generator object numbers at 0x")
    assert (got["type_name"], got["data"]) == ("generator", None)


def test_large_values_are_cut() -> None:
    for value in ("x" * 50_000, ["x" * 30] * 10**6, b"x" * 10**7, {i: i for i in range(10**5)}):
        got = report.returned(value)
        assert (len(got["text"]), got["truncated"]) == (report.TEXT, True)


def test_text_at_the_limit_is_whole() -> None:
    got = report.returned("x" * report.TEXT)
    assert (len(got["text"]), got["truncated"]) == (report.TEXT, False)


def test_data_has_a_limit_of_its_own() -> None:
    fits = [1.5] * 30_000
    got = report.returned(fits)
    assert got["truncated"]
    assert json.loads(got["data"]) == fits
    assert report.returned("x" * report.DATA)["data"] is None


def test_deep_nesting_is_cut_off() -> None:
    got = report.returned(nested(5_000))
    assert got["text"] == "[" * 61 + "..." + "]" * 61
    assert got["data"] is None


def test_syntax_errors_name_their_line() -> None:
    with pytest.raises(SyntaxError) as raised:
        compile("a = 1\ndef f(:\n", "x.py", "exec")
    assert (
        report.load_problem("code", raised.value, "x.py")
        == "The code has a syntax error in line 2: invalid syntax: def f(:"
    )


def test_showing_numbers_leaves_pythons_limit_alone() -> None:
    before = sys.get_int_max_str_digits()
    report.returned([10**5000])
    assert sys.get_int_max_str_digits() == before
