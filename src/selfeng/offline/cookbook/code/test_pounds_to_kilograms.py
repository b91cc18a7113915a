import pytest
from pounds_to_kilograms import pounds_to_kilograms


def test_whole_pounds():
    assert pounds_to_kilograms(pounds=1) == 0.45359237
    assert pounds_to_kilograms(pounds=150) == pytest.approx(68.0388555)


def test_decimal_fractions():
    assert pounds_to_kilograms(pounds=0.5) == pytest.approx(0.226796185)


def test_many_pounds():
    assert pounds_to_kilograms(pounds=2000) == pytest.approx(907.18474)


def test_nothing_weighs_nothing():
    assert pounds_to_kilograms(pounds=0) == 0.0


def test_negative_weights_are_refused():
    with pytest.raises(ValueError):
        pounds_to_kilograms(pounds=-0.1)
