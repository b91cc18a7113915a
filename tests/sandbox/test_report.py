"""The outcome of a tool, as data: every kind of value can be shown, and nothing is larger than its
limit.
"""

import json
import math
import sys
from datetime import date, datetime
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest

from sandbox_worker import report


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
    got = report.returned(value)
    assert got.pop("too_large") == 0
    assert (got.pop("readable") is None) == (data is not None or isinstance(value, str | bytes))
    assert got == {
        "outcome": "returned",
        "type_name": type_name,
        "text": text,
        "data": data,
        "truncated": False,
    }


def test_a_person_sees_what_tests_see(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what a class of the tool says of itself."""
    code = """
from collections import namedtuple
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
def lie(*_): return "lie"
class T(str): __str__ = __repr__ = lie
class L(list): __iter__ = __repr__ = lambda _: iter("lie")
class D(dict): items = lambda _: [("lie", 1)]
class N(Decimal): __str__ = __repr__ = lie
class F(Fraction): numerator = property(lie); __repr__ = lie
class C(complex): real = property(lie)
class S(timedelta): days = property(lie)
class Y(date): isoformat = lie
@dataclass
class R:
    a: object
    __repr__ = lie
class P(namedtuple("P", "a b")): __repr__ = lie
class DataFrame: to_dict = lie
values = [T("x"), L([T("y")]), D(a=1), N("1.5"), F(1, 2), C(1, 2), S(3), Y(2024, 1, 2), R(T("z")), P(1, T("b"))]
"""
    tool = ModuleType("tool")
    tool.__file__ = "tool.py"
    monkeypatch.setitem(sys.modules, "tool", tool)
    exec(code, tool.__dict__)
    for value in [*tool.values, tool.values, tool.DataFrame()]:
        got = report.returned(value)
        assert "lie" not in f"{got['text']}{got['data']}{got['readable']}"
    assert report.returned(tool.values[8])["text"] == "R(a='z')"
    assert report.returned(tool.values[9])["text"] == "P(a=1, b='b')"


def test_numbers_without_end_are_described() -> None:
    got = report.returned(10**30_000)
    assert (got["text"], got["data"]) == ("<an integer of 99658 bits>", None)


def test_a_generator_is_named_and_not_run() -> None:
    got = report.returned(numbers())
    assert got["text"].startswith("a generator, which was not run: <generator object numbers at 0x")
    assert (got["type_name"], got["data"]) == ("generator", None)


def test_large_values_are_cut() -> None:
    for value in ("x" * 50_000, ["x" * 30] * 10**5, b"x" * 10**6, {i: i for i in range(10**4)}):
        got = report.returned(value)
        assert (len(got["text"]), got["truncated"]) == (report.TEXT, True)


def test_text_at_the_limit_is_whole() -> None:
    got = report.returned("x" * report.TEXT)
    assert (len(got["text"]), got["truncated"]) == (report.TEXT, False)


@pytest.mark.parametrize(
    "value",
    [
        [1.5] * 30_000,
        "x" * (report.DATA - 2),
        {"numbers": list(range(25_000)), "rows": [{"a": n, "b": None} for n in range(20_001)]},
        tuple(range(100_000)),
    ],
    ids=["numbers", "text", "object", "tuple"],
)
def test_data_is_whole_where_the_text_is_cut(value: Any) -> None:
    got = report.returned(value)
    assert got["truncated"]
    assert json.loads(got["data"]) == (list(value) if isinstance(value, tuple) else value)
    assert got["too_large"] == 0


def test_a_value_that_is_too_large_gives_its_size() -> None:
    got = report.returned("x" * report.DATA)
    assert (got["data"], got["readable"], got["too_large"]) == (None, None, report.DATA + 2)
    got = report.returned([0] * 2_800_000)
    assert (got["data"], got["too_large"]) == (None, 8_400_000)


class Table:
    """As much of pandas as a report knows of."""

    def __init__(self) -> None:
        self.index = self
        self.names = [None]

    def to_dict(self, orient: str) -> list[dict[Any, Any]]:
        assert orient == "records"
        return [{"day": date(2026, 1, 2), "price": math.nan, 3: {"x"}}]


Table.__name__ = "DataFrame"


@pytest.mark.parametrize(
    ("value", "readable"),
    [
        ([1, math.nan, -math.inf], [1, None, "-inf"]),
        ({"at": datetime(2026, 1, 2, 3, 4, 5), 7: Decimal("1.50")}, None),
        ([{"raw": b"\0a"}], [{"raw": "b'\\x00a'"}]),
        (Table(), [{"day": "2026-01-02", "price": None, "3": ["x"]}]),
        (date(2026, 1, 2), "2026-01-02"),
        ([Broken()], ["<Broken that can't be shown: ValueError>"]),
    ],
    ids=["not finite", "dates", "bytes", "a table", "a date", "broken"],
)
def test_what_json_cannot_say_is_given_in_readable_form(value: Any, readable: Any) -> None:
    got = report.returned(value)
    assert got["data"] is None
    assert json.loads(got["readable"]) == (readable or {"at": "2026-01-02T03:04:05", "7": "1.50"})


def test_a_value_that_holds_itself_has_no_readable_form() -> None:
    endless: list[Any] = [math.nan]
    endless.append(endless)
    assert report.returned(endless)["readable"] is None


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
