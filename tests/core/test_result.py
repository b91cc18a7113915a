"""Values that are kept whole: their kind and shape, what a model is told of them, and their files."""

import json
from typing import Any

import pytest

from selfeng.core.result import (
    LONG,
    Result,
    canonical,
    in_line,
    reference_to,
    summary,
    table_of,
)
from selfeng.core.words import for_people, is_in_currency

PAYMENTS = [
    {"month": n, "payment": 1013.37 + n / 1000, "note": None if n % 2 else "even"}
    for n in range(1, 361)
]


def kept(value: Any) -> Result:
    content = canonical(value)
    return Result(reference=reference_to(value, content), content=content)


@pytest.mark.parametrize(
    ("value", "kind", "shape"),
    [
        (None, "nothing", "nothing"),
        (True, "truth", "truth"),
        (1.5, "number", "a number"),
        ("né", "text", "a text of 2 characters"),
        ([], "list", "a list of 0 items"),
        (list(range(20_000)), "list", "a list of 20000 items"),
        (PAYMENTS, "table", "a table of 360 rows and 3 columns"),
        ([{"a": 1}, {"b": 2}], "table", "a table of 2 rows and 2 columns"),
        ([["name", "age"], ["Ann", 3]], "table", "a table of 1 row and 2 columns"),
        ([["Ann", 3], ["Bob", 4]], "table", "a table of 2 rows and 2 columns"),
        ({"a": [1, 2], "b": [3, 4]}, "table", "a table of 2 rows and 2 columns"),
        ([[1, 2], [3]], "list", "a list of 2 items"),
        ({"a": {"b": [1]}}, "json", "an object of 1 member"),
    ],
)
def test_a_value_has_a_kind_and_a_shape(value: Any, kind: str, shape: str) -> None:
    reference = kept(value).reference
    assert (reference.kind, reference.shape) == (kind, shape)


def test_a_table_knows_its_columns_in_their_order() -> None:
    table = table_of([{"b": 1, "a": 2}, {"c": 3, "b": 4}])
    assert table == (("b", "a", "c"), [[1, 2, None], [4, None, 3]])


def test_the_same_value_has_the_same_hash_however_it_was_written() -> None:
    spaced = json.loads('{"a" : [1,  2.50], "b": "\\u00e9"}')
    tight = {"a": [1, 2.5], "b": "é"}
    assert kept(spaced).reference == kept(tight).reference
    assert kept({"b": "é", "a": [1, 2.5]}).reference.sha256 != kept(tight).reference.sha256


def test_a_model_is_told_the_columns_and_both_ends_of_a_table() -> None:
    told = summary(PAYMENTS)
    assert told.splitlines() == [
        "columns:",
        "- month: numbers from 1 to 360",
        "- payment: numbers from 1013.371 to 1013.73",
        '- note: 1 different texts, such as "even", 180 empty',
        'row 1: {"month":1,"payment":1013.371,"note":null}',
        'row 2: {"month":2,"payment":1013.372,"note":"even"}',
        'row 3: {"month":3,"payment":1013.373,"note":null}',
        'row 360, the last: {"month":360,"payment":1013.73,"note":"even"}',
    ]


def test_of_an_object_with_one_table_a_model_is_told_both() -> None:
    loan = kept({"total": 12.5, "payments": PAYMENTS})
    assert loan.reference.columns == ("month", "payment", "note")
    told = loan.summary.splitlines()
    assert told[0] == '- "total": 12.5'
    assert told[1].startswith('- "payments": a table of 360 rows and 3 columns, [{"month":1')
    assert told[2:4] == ["columns:", "- month: numbers from 1 to 360"]
    assert told[-1].startswith("row 360, the last: ")


@pytest.mark.parametrize(
    ("value", "has"),
    [
        (list(range(20_000)), "numbers from 0 to 19999"),
        ("x" * 5000, "characters are left out"),
        ({"total": 12.5, "rows": PAYMENTS}, '- "rows": a table of 360 rows and 3 columns'),
        ([{f"c{n}": "y" * 900 for n in range(99)}] * 500, "columns:"),
        ([["x" * 9000]] * 50, "item 1: "),
    ],
)
def test_a_summary_is_short_whatever_is_in_the_value(value: Any, has: str) -> None:
    told = summary(value)
    assert has in told
    assert len(told) < 9000


@pytest.mark.parametrize(
    ("number", "money", "said"),
    [
        (45, False, "45"),
        (45.0, False, "45"),
        (0.1 + 0.2, False, "0.3"),
        (1.0566882094325936, False, "about 1.057"),
        (2.60267, False, "about 2.603"),
        (26.0267, False, "about 26.03"),
        (2602.67, False, "2602.67"),
        (2 / 3, False, "about 0.6667"),
        (0.0149, True, "0.0149"),
        (0.014925373, True, "about 0.01493"),
        (0.99996, False, "about 1"),
        (200.0, True, "200"),
        (0.5, True, "0.50"),
        (3.497, True, "about 3.50"),
        (12345678.905, True, "about 12345678.90"),
        (1234567.891, False, "about 1234568"),
        (7.5, True, "7.50"),
        (1013.3719, True, "about 1013.37"),
        (0.00123456789, True, "about 0.001235"),
        (0.00001234567891, False, "about 1.235e-05"),
        (-2.123456789, False, "about -2.123"),
        (float("nan"), False, "nan"),
    ],
)
def test_numbers_are_rounded_for_people(number: float, money: bool, said: str) -> None:
    assert for_people(number, money=money) == said


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("total_eur", True),
        ("Der Betrag in Euro.", True),
        ("El importe en €.", True),
        ("What remains, in US$", True),
        ("The length in km.", False),
        ("Wahrscheinlichkeit, dass der Preis steigt", False),
        ("Cantidad de bombillas por el precio total", False),
        ("exchange rate of EUR and USD", False),
        ("price in EUR per litre", False),
        ("the neuron's dose", False),
    ],
)
def test_a_currency_makes_an_amount_and_the_word_price_does_not(text: str, money: bool) -> None:
    assert is_in_currency(text) == money


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"2026-04": 4, "2026-05": 2.60267}, "2026-04: 4, 2026-05: 2.603"),
        ([1, 0.25, "é", None, True], "1, 0.25, é, null, true"),
        ([{"a": 1}, {"a": [2, 3]}], "(a: 1), (a: (2, 3))"),
        ("two\nlines", "two\nlines"),
        (2.60267, "2.603"),
    ],
)
def test_a_value_in_a_line_has_no_signs_of_python(value: Any, line: str) -> None:
    assert in_line(value) == line


def test_a_spreadsheet_runs_nothing_of_a_csv_file() -> None:
    rows = [{"=name": "=1+1", "n": -5, "t": "-5.5"}, {"=name": "@x", "n": 2.5, "t": "+a"}]
    assert kept(rows).in_format("csv") == "'=name,n,t\r\n'=1+1,-5,-5.5\r\n'@x,2.5,'+a\r\n"


@pytest.mark.parametrize(
    ("value", "csv"),
    [
        ([1, 2], "value\r\n1\r\n2\r\n"),
        ({"a": 1, "b": [1]}, "name,value\r\na,1\r\nb,[1]\r\n"),
        ({"total": 2, "rows": [{"a": 1}]}, "a\r\n1\r\n"),
        ({"a": [1, 2], "b": ["x", None]}, "a,b\r\n1,x\r\n2,\r\n"),
        ("text", "value\r\ntext\r\n"),
        ([[1, True], [2, False]], "1,2\r\n1,true\r\n2,false\r\n"),
    ],
)
def test_every_value_has_a_csv_form(value: Any, csv: str) -> None:
    assert kept(value).in_format("csv") == csv


def test_json_and_text_say_the_whole_value() -> None:
    assert json.loads(kept(PAYMENTS).in_format("json")) == PAYMENTS
    assert kept("a\nb").in_format("text") == "a\nb"
    assert kept({"a": "é"}).in_format("text") == '{\n  "a": "é"\n}'


def test_only_long_values_are_shown_apart_from_the_answer() -> None:
    assert not kept("x" * (LONG - 2)).reference.long
    assert kept("x" * (LONG - 1)).reference.long
