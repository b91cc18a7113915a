import pytest
from age_on_date import age_on_date


def test_birthday_has_passed():
    assert age_on_date(birth_date="1990-05-17", on_date="2024-06-01") == 34


def test_birthday_is_still_to_come():
    assert age_on_date(birth_date="1990-05-17", on_date="2024-05-16") == 33


def test_age_grows_on_the_birthday():
    assert age_on_date(birth_date="1990-05-17", on_date="2024-05-17") == 34


def test_born_on_a_leap_day():
    assert age_on_date(birth_date="2000-02-29", on_date="2023-02-28") == 22
    assert age_on_date(birth_date="2000-02-29", on_date="2023-03-01") == 23


def test_day_of_birth_is_age_zero():
    assert age_on_date(birth_date="2024-01-01", on_date="2024-01-01") == 0


def test_impossible_dates_are_refused():
    with pytest.raises(ValueError):
        age_on_date(birth_date="2024-01-02", on_date="2024-01-01")
    with pytest.raises(ValueError):
        age_on_date(birth_date="1990-02-30", on_date="2024-01-01")
