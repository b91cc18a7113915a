import pytest
from day_of_week import day_of_week


def test_weekdays():
    assert day_of_week(day="2024-03-15") == "Friday"
    assert day_of_week(day="2000-01-01") == "Saturday"


def test_leap_day():
    assert day_of_week(day="2024-02-29") == "Thursday"


def test_long_ago():
    assert day_of_week(day="1969-07-20") == "Sunday"


def test_following_days_have_following_names():
    assert day_of_week(day="2024-12-30") == "Monday"
    assert day_of_week(day="2024-12-31") == "Tuesday"
    assert day_of_week(day="2025-01-01") == "Wednesday"


def test_impossible_dates_are_refused():
    with pytest.raises(ValueError):
        day_of_week(day="2023-02-29")
    with pytest.raises(ValueError):
        day_of_week(day="tomorrow")
