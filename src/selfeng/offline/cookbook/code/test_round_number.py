import pytest
from round_number import round_number


def test_decimal_places_can_be_chosen():
    assert round_number(number=3.14159, decimals=2) == 3.14
    assert round_number(number=2.71828, decimals=4) == 2.7183


def test_without_places_the_result_is_whole():
    assert round_number(number=7.8) == 8
    assert round_number(number=7.2) == 7


def test_halves_are_rounded_away_from_zero():
    assert round_number(number=2.5) == 3
    assert round_number(number=-2.5) == -3
    assert round_number(number=1.005, decimals=2) == 1.01


def test_whole_numbers_stay():
    assert round_number(number=5, decimals=3) == 5.0


def test_senseless_places_are_refused():
    with pytest.raises(ValueError):
        round_number(number=1.5, decimals=-1)
    with pytest.raises(ValueError):
        round_number(number=1.5, decimals=16)
