import pytest
from calculate_median import calculate_median


def test_odd_count_has_a_middle_number():
    assert calculate_median(numbers=[3, 1, 2]) == 2


def test_even_count_takes_the_mean_of_two():
    assert calculate_median(numbers=[1, 2, 3, 10]) == 2.5


def test_order_does_not_matter():
    assert calculate_median(numbers=[9, -4, 7, 0, 5]) == 5


def test_single_number_is_its_own_median():
    assert calculate_median(numbers=[4.25]) == 4.25


def test_no_numbers_are_refused():
    with pytest.raises(ValueError):
        calculate_median(numbers=[])
