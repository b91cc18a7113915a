import pytest
from find_maximum import find_maximum


def test_greatest_number():
    assert find_maximum(numbers=[3, 9, 2]) == 9


def test_negative_numbers():
    assert find_maximum(numbers=[-5, -2, -9]) == -2


def test_decimal_fractions():
    assert find_maximum(numbers=[1.5, 1.25]) == 1.5


def test_single_number():
    assert find_maximum(numbers=[7]) == 7


def test_no_numbers_are_refused():
    with pytest.raises(ValueError):
        find_maximum(numbers=[])
