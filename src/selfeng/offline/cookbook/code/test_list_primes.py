import pytest
from list_primes import list_primes


def test_primes_up_to_twenty():
    assert list_primes(limit=20) == [2, 3, 5, 7, 11, 13, 17, 19]


def test_limit_itself_belongs_to_them():
    assert list_primes(limit=7) == [2, 3, 5, 7]
    assert list_primes(limit=2) == [2]


def test_there_are_none_below_two():
    assert list_primes(limit=1) == []
    assert list_primes(limit=-5) == []


def test_number_of_primes_below_a_thousand():
    assert len(list_primes(limit=1000)) == 168


def test_too_large_limits_are_refused():
    with pytest.raises(ValueError):
        list_primes(limit=1_000_001)
