import pytest
from add_days import add_days


def test_days_later():
    assert add_days(day="2024-01-15", days=30) == "2024-02-14"
    assert add_days(day="2024-12-31", days=1) == "2025-01-01"


def test_days_earlier():
    assert add_days(day="2024-03-01", days=-1) == "2024-02-29"


def test_leap_years_are_longer():
    assert add_days(day="2023-03-01", days=365) == "2024-02-29"


def test_zero_days_change_nothing():
    assert add_days(day="2024-05-05", days=0) == "2024-05-05"


def test_impossible_dates_are_refused():
    with pytest.raises(ValueError):
        add_days(day="2024-13-01", days=1)
    with pytest.raises(ValueError):
        add_days(day="9999-12-31", days=1)
