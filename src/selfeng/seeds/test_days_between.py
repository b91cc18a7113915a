import pytest
from days_between import days_between


def test_days_within_a_year():
    assert days_between(start="2024-01-01", end="2024-12-25") == 359
    assert days_between(start="2023-03-01", end="2023-03-02") == 1


def test_leap_days_count():
    assert days_between(start="2024-02-28", end="2024-03-01") == 2
    assert days_between(start="2023-02-28", end="2023-03-01") == 1
    assert days_between(start="1900-02-28", end="1900-03-01") == 1


def test_same_day_is_zero():
    assert days_between(start="2024-05-05", end="2024-05-05") == 0


def test_backwards_is_negative():
    assert days_between(start="2024-01-31", end="2024-01-01") == -30


def test_surrounding_space_is_ignored():
    assert days_between(start=" 2024-01-01", end="2024-01-02\n") == 1


def test_impossible_dates_are_refused():
    with pytest.raises(ValueError):
        days_between(start="2023-02-29", end="2023-03-01")
    with pytest.raises(ValueError):
        days_between(start="2023-01-01", end="yesterday")


def test_dates_that_are_not_text_are_refused():
    with pytest.raises(TypeError):
        days_between(start=20240101, end="2024-01-02")
