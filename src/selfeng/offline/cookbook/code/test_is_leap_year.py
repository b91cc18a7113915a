from is_leap_year import is_leap_year


def test_every_fourth_year_is():
    assert is_leap_year(year=2024) is True
    assert is_leap_year(year=1996) is True


def test_other_years_are_not():
    assert is_leap_year(year=2023) is False
    assert is_leap_year(year=2026) is False


def test_full_centuries_are_not():
    assert is_leap_year(year=1900) is False
    assert is_leap_year(year=2100) is False


def test_every_fourth_century_is():
    assert is_leap_year(year=2000) is True
    assert is_leap_year(year=1600) is True
