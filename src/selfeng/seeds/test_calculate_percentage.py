import pytest
from calculate_percentage import calculate_percentage


def test_percentage_of_a_whole_number():
    assert calculate_percentage(percentage=15, number=300) == 45
    assert calculate_percentage(percentage=50, number=9) == pytest.approx(4.5)


def test_whole_results_are_integers():
    assert isinstance(calculate_percentage(percentage=15.0, number=300.0), int)


def test_zero_gives_zero():
    assert calculate_percentage(percentage=0, number=250) == 0
    assert calculate_percentage(percentage=20, number=0) == 0


def test_more_than_hundred_percent():
    assert calculate_percentage(percentage=250, number=40) == 100


def test_negative_values_keep_their_sign():
    assert calculate_percentage(percentage=-10, number=50) == -5
    assert calculate_percentage(percentage=-10, number=-50) == 5


def test_decimal_fractions_are_exact():
    assert calculate_percentage(percentage=7, number=100) == 7
    assert calculate_percentage(percentage=12.5, number=80) == 10
    assert calculate_percentage(percentage=0.1, number=3) == 0.003


def test_values_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError):
        calculate_percentage(percentage="15", number=300)
    with pytest.raises(TypeError):
        calculate_percentage(percentage=15, number=True)


def test_infinite_values_are_refused():
    with pytest.raises(ValueError):
        calculate_percentage(percentage=float("inf"), number=1)
