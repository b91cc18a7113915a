import pytest
from fahrenheit_to_celsius import fahrenheit_to_celsius


def test_everyday_temperatures():
    assert fahrenheit_to_celsius(fahrenheit=77) == 25
    assert fahrenheit_to_celsius(fahrenheit=98.6) == 37


def test_water_freezes_and_boils():
    assert fahrenheit_to_celsius(fahrenheit=32) == 0
    assert fahrenheit_to_celsius(fahrenheit=212) == 100


def test_scales_meet_at_minus_forty():
    assert fahrenheit_to_celsius(fahrenheit=-40) == -40


def test_results_may_have_decimals():
    assert fahrenheit_to_celsius(fahrenheit=100) == pytest.approx(37.7777777778)


def test_below_absolute_zero_is_refused():
    with pytest.raises(ValueError):
        fahrenheit_to_celsius(fahrenheit=-460)
