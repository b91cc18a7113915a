import pytest
from fibonacci_sequence import fibonacci_sequence


def test_first_ten_numbers():
    assert fibonacci_sequence(count=10) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_first_one_and_two():
    assert fibonacci_sequence(count=1) == [0]
    assert fibonacci_sequence(count=2) == [0, 1]


def test_none_at_all():
    assert fibonacci_sequence(count=0) == []


def test_each_number_is_the_sum_of_the_two_before():
    numbers = fibonacci_sequence(count=30)
    assert numbers[29] == 514229
    assert all(numbers[i] == numbers[i - 1] + numbers[i - 2] for i in range(2, 30))


def test_counts_out_of_range_are_refused():
    with pytest.raises(ValueError):
        fibonacci_sequence(count=-1)
    with pytest.raises(ValueError):
        fibonacci_sequence(count=1001)
