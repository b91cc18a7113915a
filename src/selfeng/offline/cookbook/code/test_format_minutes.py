import pytest
from format_minutes import format_minutes


def test_hours_and_minutes():
    assert format_minutes(minutes=135) == "2:15"
    assert format_minutes(minutes=90) == "1:30"


def test_minutes_have_two_digits():
    assert format_minutes(minutes=65) == "1:05"
    assert format_minutes(minutes=5) == "0:05"


def test_full_hours():
    assert format_minutes(minutes=120) == "2:00"


def test_zero_and_more_than_a_day():
    assert format_minutes(minutes=0) == "0:00"
    assert format_minutes(minutes=1500) == "25:00"


def test_negative_minutes_are_refused():
    with pytest.raises(ValueError):
        format_minutes(minutes=-1)
