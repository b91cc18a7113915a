import pytest
from find_minimum import find_minimum


def test_smallest_number():
    assert find_minimum(numbers=[3, 9, 2]) == 2


def test_negative_numbers():
    assert find_minimum(numbers=[-5, -2, -9]) == -9


def test_decimal_fractions():
    assert find_minimum(numbers=[1.5, 1.25]) == 1.25


def test_single_number():
    assert find_minimum(numbers=[7]) == 7


def test_no_numbers_are_refused():
    with pytest.raises(ValueError):
        find_minimum(numbers=[])
