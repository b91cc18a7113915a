import pytest
from days_in_month import days_in_month


def test_long_and_short_months():
    assert days_in_month(year=2024, month=1) == 31
    assert days_in_month(year=2024, month=4) == 30


def test_february_of_leap_years():
    assert days_in_month(year=2024, month=2) == 29
    assert days_in_month(year=2000, month=2) == 29


def test_february_of_other_years():
    assert days_in_month(year=2023, month=2) == 28
    assert days_in_month(year=1900, month=2) == 28


def test_december():
    assert days_in_month(year=2023, month=12) == 31


def test_impossible_months_are_refused():
    with pytest.raises(ValueError):
        days_in_month(year=2024, month=0)
    with pytest.raises(ValueError):
        days_in_month(year=2024, month=13)
    with pytest.raises(ValueError):
        days_in_month(year=0, month=1)
