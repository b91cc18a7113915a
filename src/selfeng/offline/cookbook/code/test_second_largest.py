import pytest
from second_largest import second_largest


def test_second_largest_number():
    assert second_largest(numbers=[4, 9, 7]) == 7


def test_equal_numbers_count_once():
    assert second_largest(numbers=[5, 5, 3]) == 3


def test_negative_numbers():
    assert second_largest(numbers=[-1, -5, -3]) == -3


def test_two_numbers():
    assert second_largest(numbers=[1, 2]) == 1


def test_too_few_values_are_refused():
    with pytest.raises(ValueError):
        second_largest(numbers=[4, 4])
    with pytest.raises(ValueError):
        second_largest(numbers=[])
