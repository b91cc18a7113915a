import pytest
from report import as_markdown, read_rows, totals

ROWS = [{"month": "May", "amount": "1.5"}, {"month": "June", "amount": "2"}, {"month": "May", "amount": "3"}]


def test_amounts_are_summed_in_the_order_of_the_rows():
    assert list(totals(ROWS, "month").items()) == [("May", 4.5), ("June", 2.0)]


def test_an_amount_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="many"):
        totals([{"month": "May", "amount": "many"}], "month")


def test_the_table_ends_with_the_total():
    assert as_markdown("T", {"May": 4.5, "June": 2.0}).splitlines()[-2:] == ["| June | 2.00 |", "| total | 6.50 |"]


def test_rows_are_read_by_the_names_in_the_head(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("month,amount\nMay,1.5\n")
    assert read_rows(path) == [{"month": "May", "amount": "1.5"}]
