import pytest
from greatest_common_divisor import greatest_common_divisor


def test_two_numbers():
    assert greatest_common_divisor(numbers=[12, 18]) == 6
    assert greatest_common_divisor(numbers=[48, 36]) == 12


def test_numbers_without_common_divisor():
    assert greatest_common_divisor(numbers=[8, 15]) == 1


def test_more_than_two_numbers():
    assert greatest_common_divisor(numbers=[24, 60, 36]) == 12


def test_zero_and_negative_numbers():
    assert greatest_common_divisor(numbers=[0, 5]) == 5
    assert greatest_common_divisor(numbers=[-12, 18]) == 6


def test_single_number_is_refused():
    with pytest.raises(ValueError):
        greatest_common_divisor(numbers=[7])
