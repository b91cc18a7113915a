import pytest
from celsius_to_fahrenheit import celsius_to_fahrenheit


def test_everyday_temperatures():
    assert celsius_to_fahrenheit(celsius=25) == 77
    assert celsius_to_fahrenheit(celsius=36.6) == pytest.approx(97.88)


def test_water_freezes_and_boils():
    assert celsius_to_fahrenheit(celsius=0) == 32
    assert celsius_to_fahrenheit(celsius=100) == 212


def test_scales_meet_at_minus_forty():
    assert celsius_to_fahrenheit(celsius=-40) == -40


def test_absolute_zero():
    assert celsius_to_fahrenheit(celsius=-273.15) == pytest.approx(-459.67)


def test_below_absolute_zero_is_refused():
    with pytest.raises(ValueError):
        celsius_to_fahrenheit(celsius=-300)
