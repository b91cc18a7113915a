import pytest
from iso_week import iso_week


def test_week_in_the_middle_of_a_year():
    assert iso_week(day="2024-03-15") == 11


def test_first_days_may_belong_to_the_last_week():
    assert iso_week(day="2021-01-01") == 53
    assert iso_week(day="2023-01-01") == 52


def test_last_days_may_belong_to_the_first_week():
    assert iso_week(day="2024-12-30") == 1


def test_weeks_begin_on_monday():
    assert iso_week(day="2024-01-07") == 1
    assert iso_week(day="2024-01-08") == 2


def test_impossible_dates_are_refused():
    with pytest.raises(ValueError):
        iso_week(day="2024-02-30")
