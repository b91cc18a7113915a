import pytest
from kilograms_to_pounds import kilograms_to_pounds


def test_whole_kilograms():
    assert kilograms_to_pounds(kilograms=1) == pytest.approx(2.2046226218)
    assert kilograms_to_pounds(kilograms=70) == pytest.approx(154.3235835294)


def test_decimal_fractions():
    assert kilograms_to_pounds(kilograms=2.5) == pytest.approx(5.5115565546)


def test_a_pound_of_kilograms():
    assert kilograms_to_pounds(kilograms=0.45359237) == 1.0


def test_nothing_weighs_nothing():
    assert kilograms_to_pounds(kilograms=0) == 0.0


def test_negative_weights_are_refused():
    with pytest.raises(ValueError):
        kilograms_to_pounds(kilograms=-1)
