import pytest
from prime_factors import prime_factors


def test_factors_come_in_ascending_order():
    assert prime_factors(number=360) == [2, 2, 2, 3, 3, 5]
    assert prime_factors(number=84) == [2, 2, 3, 7]


def test_prime_is_its_own_factor():
    assert prime_factors(number=97) == [97]
    assert prime_factors(number=2) == [2]


def test_square_of_a_prime():
    assert prime_factors(number=49) == [7, 7]


def test_one_has_no_factors():
    assert prime_factors(number=1) == []


def test_large_numbers():
    assert prime_factors(number=10**13) == [2] * 13 + [5] * 13
    assert prime_factors(number=999999000001) == [999999000001]


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError):
        prime_factors(number=0)
    with pytest.raises(ValueError):
        prime_factors(number=-12)
    with pytest.raises(ValueError):
        prime_factors(number=10**13 + 1)


def test_only_whole_numbers_are_accepted():
    with pytest.raises(TypeError):
        prime_factors(number=12.0)
