import pytest
from least_common_multiple import least_common_multiple


def test_two_numbers():
    assert least_common_multiple(numbers=[4, 6]) == 12
    assert least_common_multiple(numbers=[5, 7]) == 35


def test_multiple_of_the_other():
    assert least_common_multiple(numbers=[3, 9]) == 9


def test_more_than_two_numbers():
    assert least_common_multiple(numbers=[2, 3, 4]) == 12


def test_zero_gives_zero():
    assert least_common_multiple(numbers=[0, 5]) == 0


def test_single_number_is_refused():
    with pytest.raises(ValueError):
        least_common_multiple(numbers=[7])
