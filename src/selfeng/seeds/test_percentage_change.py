import pytest
from percentage_change import percentage_change


def test_increase_is_positive():
    assert percentage_change(old=80, new=100) == 25
    assert percentage_change(old=50, new=200) == 300


def test_decrease_is_negative():
    assert percentage_change(old=100, new=80) == -20
    assert percentage_change(old=10, new=0) == -100


def test_no_change_is_zero():
    assert percentage_change(old=42, new=42) == 0


def test_decimal_fractions_are_exact():
    assert percentage_change(old=0.1, new=0.3) == 200
    assert percentage_change(old=3, new=4) == pytest.approx(33.333333333333336)


def test_change_from_a_negative_value_is_relative_to_its_size():
    assert percentage_change(old=-50, new=-25) == 50
    assert percentage_change(old=-50, new=-75) == -50


def test_change_from_zero_is_refused():
    with pytest.raises(ValueError):
        percentage_change(old=0, new=5)


def test_values_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError):
        percentage_change(old="80", new=100)
