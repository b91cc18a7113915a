"""readcells: how numbers, dates and text of tables are read, and what is not."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from readcells import (
    NumberFormat,
    date_format,
    number_format,
    read_date,
    read_dates,
    read_number,
    read_numbers,
    read_table,
    same_text,
    text_key,
    workbook_date,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("007", 7),
        ("-12", -12),
        ("1.5", 1.5),
        ("1,5", 1.5),
        ("0,125", 0.125),
        (".5", 0.5),
        ("1,234,567", 1_234_567),
        ("1.234.567,8", 1_234_567.8),
        ("1 234,5", 1234.5),
        ("1\u202f234\u00a0567", 1_234_567),
        ("1’234.50", 1234.5),
        ("12,34,567.5", 1_234_567.5),
        ("2,5 %", 2.5),
        ("٢٥٪", 25),
        ("$5", 5),
        ("EUR 1.250,00", 1250.0),
        ("1 250,00 zł", 1250.0),
        ("R$ 1.234,56", 1234.56),
        ("CHF 1'000.-", 1000),
        ("5,-- Kč", 5),
        ("(30.00)", -30.0),
        ("($30.00)", -30.0),
        ("$(4.75)", -4.75),
        ("-$3.10", -3.1),
        ("30.00-", -30.0),
        ("− 5", -5),
        ("($25.00) CR", -25.0),
        ("١٢٫٥", 12.5),
        ("۱٬۲۳۴", 1234),
        ("५०", 50),
        ("１，２３４．５", 1234.5),
        ("1.5e-3", 0.0015),
        ("\u200e5\ufeff", 5),
    ],
)
def test_numbers_with_one_reading_are_read(text: str, value: float) -> None:
    got = read_number(text)
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    ["", "k. A.", "5²", "½", "1٢", "-(5)", "--5", "1.2.3", "1,23,45", "12:30", "MAY 5", "5 km",
     "1E400", "$5 €", "1 2", "a1", "n/a", "%"],
)  # fmt: skip
def test_what_is_not_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_number(text)


@pytest.mark.parametrize("text", ["1,234", "1.234", "$12,345"])
def test_a_number_with_two_readings_is_refused_unless_the_format_decides(text: str) -> None:
    with pytest.raises(ValueError, match=r"can be .* or .*; state the decimal sign"):
        read_number(text)
    by_point = read_number(text, NumberFormat("."))
    assert {by_point, read_number(text, NumberFormat(","))} == {
        float(text.lstrip("$").replace(",", ".")),
        int("".join(filter(str.isdigit, text))),
    }


def test_a_mark_of_credit_alone_decides_nothing() -> None:
    with pytest.raises(ValueError, match="has the mark CR, and nothing decides"):
        read_number("25.00 CR")


@pytest.mark.parametrize(
    ("cells", "more", "decimal", "thousands", "evidence"),
    [
        (["1.250", "88,9"], {}, ",", ".", "1 of 2 cells allow no other reading, such as '88,9'"),
        (["1.250", "900"], {}, ",", ".", "1 of 2 cells have three digits after the point"),
        (["1,234"], {"others": ["x", "0.5"]}, ".", ",", "other cells have one, such as '0.5'"),
        (["1.234"], {"delimiter": ";"}, ",", ".", "programs that separate cells by ';' write one"),
        (["1.234"], {"decimal": "."}, ".", "", "the caller's choice"),
        (["5", "1234"], {}, "", "", ""),
    ],
)
def test_the_format_is_decided_by_column_file_delimiter_or_caller(
    cells: list[str], more: dict[str, str], decimal: str, thousands: str, evidence: str
) -> None:
    found = number_format(cells, **more)
    assert (found.decimal, found.thousands, found.ambiguous) == (decimal, thousands, False)
    assert evidence in found.evidence


@pytest.mark.parametrize("more", [{}, {"delimiter": "|"}, {"others": ["1,5", "1.5"]}])
def test_a_column_that_nothing_decides_is_ambiguous_with_both_readings(
    more: dict[str, str],
) -> None:
    found = number_format(["1,234", "2,345"], **more)
    assert (found.decimal, found.ambiguous) == ("", True)
    assert found.evidence == "'1,234' can be 1234 or 1.234: nothing decides"


def test_unread_cells_are_reported_with_their_places() -> None:
    numbers = read_numbers(
        ["2,5 %", None, "k. A.", "", "3 %", 4, True], places=[f"line {n}" for n in range(2, 9)]
    )
    assert numbers.values == [2.5, None, None, None, 3, 4, None]
    assert [str(cell) for cell in numbers.unread] == [
        "'k. A.' in line 4 is not a number",
        "'True' in line 8 is not a number",
    ]
    assert numbers.units == {"%": 2, "": 1}
    with pytest.raises(ValueError, match=r"'k\. A\.' in line 4 is not a number; 'True' in line 8"):
        numbers.checked()


def test_cells_with_the_rarer_decimal_sign_are_unread() -> None:
    numbers = read_numbers(["1.5", "2.5", "2,5", "1,234"])
    assert numbers.values == [1.5, 2.5, None, None]
    assert [cell.reason for cell in numbers.unread] == [
        "is not a number with a decimal point",
        "can be 1234 or 1.234; state the decimal sign",
    ]


@pytest.mark.parametrize(
    ("cells", "total"),
    [
        (["$9.00", "$2.00 CR"], 7),
        (["9.00", "2.00 DR"], 7),
        (["9.00 CR", "2.00 DR"], 7),
        (["$9.00", "($2.00) CR"], 7),
    ],
)
def test_marks_of_credit_and_debit_are_read_where_the_column_decides(
    cells: list[str], total: float
) -> None:
    assert sum(value or 0 for value in read_numbers(cells).checked()) == total


@pytest.mark.parametrize("cells", [["$5", "€5"], ["5 %", "5"], ["5 USD", "5 EUR", "5"]])
def test_several_units_are_refused_where_values_are_needed(cells: list[str]) -> None:
    numbers = read_numbers(cells)
    assert numbers.unread == []
    with pytest.raises(ValueError, match="the numbers have several units"):
        numbers.checked()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-17", date(2026, 3, 17)),
        ("2026/3/7", date(2026, 3, 7)),
        ("17/03/2026", date(2026, 3, 17)),
        ("03/17/2026", date(2026, 3, 17)),
        ("04.03.2026", date(2026, 3, 4)),
        ("17. 3. 2026", date(2026, 3, 17)),
        ("17.03.26", date(2026, 3, 17)),
        ("05/05/2026", date(2026, 5, 5)),
        ("20260317", date(2026, 3, 17)),
        ("2026年3月17日", date(2026, 3, 17)),
        ("March 17th, 2026", date(2026, 3, 17)),
        ("17 de março de 2026", date(2026, 3, 17)),
        ("1 września 2026", date(2026, 9, 1)),
        ("5 мая 2026 г.", date(2026, 5, 5)),
        ("17-Mar-99", date(1999, 3, 17)),
        ("١٧/٠٣/٢٠٢٦", date(2026, 3, 17)),
        ("17/03/2026 2:05 PM", datetime(2026, 3, 17, 14, 5)),
        ("2026-03-17T14:03:22.5Z", datetime(2026, 3, 17, 14, 3, 22, 500_000, UTC)),
        ("2026-03-17 14:03 +09:00", datetime(2026, 3, 17, 14, 3, tzinfo=timezone(timedelta(hours=9)))),
    ],
)  # fmt: skip
def test_dates_with_one_reading_are_read(text: str, day: date) -> None:
    assert read_date(text) == day


@pytest.mark.parametrize("text", ["", "30.02.2026", "1.2.3", "17 jui 2026", "13/13/2026", "noon"])
def test_what_is_not_a_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a date"):
        read_date(text)


@pytest.mark.parametrize(
    ("cells", "more", "order"),
    [
        (["01/02/2026", "17/03/2026"], {}, "DMY"),
        (["01/02/2026", "03/17/2026"], {}, "MDY"),
        (["01/02/2026"], {"others": ["03/17/2026"]}, "MDY"),
        (["01/02/2026"], {"decimal": ","}, "DMY"),
        (["01/02/2026"], {"day_first": False}, "MDY"),
        (["01.02.2026"], {}, "DMY"),
    ],
)
def test_the_order_is_decided_by_column_file_numbers_or_caller(
    cells: list[str], more: dict[str, str], order: str
) -> None:
    dates = read_dates(cells, **more)
    expected = date(2026, 2, 1) if order == "DMY" else date(2026, 1, 2)
    assert (dates.format.order, dates.values[0], dates.unread) == (order, expected, [])


@pytest.mark.parametrize(
    "cells", [["01/02/2026"], ["01/02/2026", "2026-02-01"], ["01/02/2026", "17/03/2026", "03/17/2026"]]
)  # fmt: skip
def test_dates_that_nothing_decides_are_unread(cells: list[str]) -> None:
    dates = read_dates(cells)
    assert (dates.format.ambiguous, dates.format.day_first) == (True, None)
    assert str(dates.unread[0]) == (
        "'01/02/2026' in item 0 can be 2026-02-01 or 2026-01-02; state whether the day is first"
    )
    assert date_format(["01/02/2026"]).evidence.endswith(": nothing decides")


def test_a_column_of_a_table_is_read_by_its_name_with_what_the_table_decides() -> None:
    table = read_table("Day;Sum;Part\n01/02/2026;1.250;1,5\n03/04/2026;x;2,5\n")
    assert table.dates("day").checked() == [date(2026, 2, 1), date(2026, 4, 3)]
    assert table.dates("day", day_first=False).values[0] == date(2026, 1, 2)
    assert table.numbers("sum").values == [1250, None]
    assert table.numbers("sum", ".").values == [1.25, None]
    with pytest.raises(ValueError, match="'x' in line 3, column 'sum', is not a number"):
        table.numbers("sum").checked()
    for read in (table.numbers, table.dates):
        with pytest.raises(ValueError, match="there is no column 'Total'"):
            read("Total")


def test_days_of_workbooks_count_from_1900_or_1904() -> None:
    assert workbook_date(1) == date(1900, 1, 1)
    assert workbook_date(61) == date(1900, 3, 1)
    assert workbook_date(44579) == date(2022, 1, 18)
    assert workbook_date(44579.25, since_1904=True) == datetime(2026, 1, 19, 6)
    with pytest.raises(ValueError, match="60 is not a date of a workbook"):
        workbook_date(60)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("José", "JOSE\u0301 "),
        ("Ana\u00a0 Gómez", "\ufeffana gómez"),
        ("STRASSE", "straße"),
        ("ＡＢＣ", "abc"),
        ("O’Brien", "O'BRIEN"),
        ("İzmir", "I\u0307zmir"),
    ],
)
def test_texts_that_differ_in_form_only_are_the_same(a: str, b: str) -> None:
    assert same_text(a, b)
    assert text_key(text_key(a)) == text_key(a)


@pytest.mark.parametrize(("a", "b"), [("José", "Jose"), ("a b", "ab"), ("Łódź", "Lodz")])
def test_texts_that_differ_in_letters_are_not(a: str, b: str) -> None:
    assert not same_text(a, b)


def test_a_table_gives_the_cells_of_a_column_with_their_lines() -> None:
    table = read_table("\ufeffName ;Pre\u0301cio\n\nx;1,5\n\u00a0;\ny\n")
    assert (table.header, table.delimiter) == (["Name", "Précio"], ";")
    assert table.column("PRÉCIO") == [(3, "1,5"), (5, "")]
    with pytest.raises(ValueError, match="there is no column 'z'; the columns are Name, Précio"):
        table.column("z")
    with pytest.raises(ValueError, match="there are 2 columns 'b'"):
        read_table("b,b\n1,2").column("b")
    with pytest.raises(ValueError, match=r"there is no file 'none\.csv'"):
        read_table("none.csv")
