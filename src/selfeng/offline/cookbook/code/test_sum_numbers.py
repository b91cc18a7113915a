from sum_numbers import sum_numbers


def test_whole_numbers_are_added():
    assert sum_numbers(numbers=[1, 2, 3]) == 6


def test_negative_numbers_are_subtracted():
    assert sum_numbers(numbers=[10, -4, -6]) == 0


def test_decimal_fractions_do_not_drift():
    assert sum_numbers(numbers=[0.1] * 10) == 1.0
    assert sum_numbers(numbers=[1, 2.5]) == 3.5


def test_nothing_adds_up_to_zero():
    assert sum_numbers(numbers=[]) == 0
