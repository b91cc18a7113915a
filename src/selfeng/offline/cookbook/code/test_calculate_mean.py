import pytest
from calculate_mean import calculate_mean


def test_mean_of_whole_numbers():
    assert calculate_mean(numbers=[1, 2, 3]) == 2
    assert calculate_mean(numbers=[1, 2]) == 1.5


def test_mean_of_decimal_fractions():
    assert calculate_mean(numbers=[0.5, 1.5, 4]) == pytest.approx(2)


def test_negative_numbers():
    assert calculate_mean(numbers=[-10, 0, 4]) == -2


def test_single_number_is_its_own_mean():
    assert calculate_mean(numbers=[7]) == 7


def test_no_numbers_are_refused():
    with pytest.raises(ValueError):
        calculate_mean(numbers=[])
