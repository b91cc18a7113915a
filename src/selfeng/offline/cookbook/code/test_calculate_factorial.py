import pytest
from calculate_factorial import calculate_factorial


def test_small_numbers():
    assert calculate_factorial(number=5) == 120
    assert calculate_factorial(number=3) == 6


def test_zero_and_one():
    assert calculate_factorial(number=0) == 1
    assert calculate_factorial(number=1) == 1


def test_large_numbers_are_exact():
    assert calculate_factorial(number=20) == 2432902008176640000


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError):
        calculate_factorial(number=-1)
    with pytest.raises(ValueError):
        calculate_factorial(number=1001)
