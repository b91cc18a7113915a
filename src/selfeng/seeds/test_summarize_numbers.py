import pytest
from summarize_numbers import summarize_numbers


def test_all_statistics_of_whole_numbers():
    assert summarize_numbers(numbers=[1, 2, 3]) == {
        "count": 3,
        "sum": 6,
        "mean": 2,
        "median": 2,
        "minimum": 1,
        "maximum": 3,
        "standard_deviation": 1.0,
    }


def test_single_number_has_no_deviation():
    assert summarize_numbers(numbers=[4]) == {
        "count": 1,
        "sum": 4,
        "mean": 4,
        "median": 4,
        "minimum": 4,
        "maximum": 4,
        "standard_deviation": None,
    }


def test_median_of_an_even_count_lies_between():
    assert summarize_numbers(numbers=[10, 1, 2, 4])["median"] == 3


def test_deviation_is_that_of_a_sample():
    assert summarize_numbers(numbers=[2, 4, 4, 4, 5, 5, 7, 9])["standard_deviation"] == pytest.approx(2.138089935)


def test_decimal_sums_do_not_drift():
    assert summarize_numbers(numbers=[0.1] * 10)["sum"] == 1.0


def test_negative_numbers_count():
    assert summarize_numbers(numbers=[-3, 0, 3])["minimum"] == -3


def test_no_numbers_are_refused():
    with pytest.raises(ValueError):
        summarize_numbers(numbers=[])


def test_values_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError):
        summarize_numbers(numbers=[1, "2"])
    with pytest.raises(ValueError):
        summarize_numbers(numbers=[1, float("nan")])
