import pytest
from standard_deviation import standard_deviation


def test_deviation_of_a_sample():
    assert standard_deviation(numbers=[1, 2, 3]) == 1.0
    assert standard_deviation(numbers=[2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2.138089935)


def test_deviation_of_a_population():
    assert standard_deviation(numbers=[2, 4, 4, 4, 5, 5, 7, 9], population=True) == 2.0


def test_equal_numbers_do_not_deviate():
    assert standard_deviation(numbers=[5, 5, 5]) == 0.0


def test_single_number_of_a_population():
    assert standard_deviation(numbers=[5], population=True) == 0.0


def test_too_few_numbers_are_refused():
    with pytest.raises(ValueError):
        standard_deviation(numbers=[1])
    with pytest.raises(ValueError):
        standard_deviation(numbers=[], population=True)
