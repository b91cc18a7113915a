import pytest
from is_prime import is_prime


def test_small_primes():
    assert is_prime(number=2) is True
    assert is_prime(number=17) is True
    assert is_prime(number=97) is True


def test_composite_numbers():
    assert is_prime(number=9) is False
    assert is_prime(number=91) is False
    assert is_prime(number=1681) is False


def test_one_zero_and_negative_numbers_are_not_prime():
    assert is_prime(number=1) is False
    assert is_prime(number=0) is False
    assert is_prime(number=-7) is False


def test_numbers_that_fool_simple_tests():
    assert is_prime(number=561) is False
    assert is_prime(number=3215031751) is False


def test_large_primes_are_told_at_once():
    assert is_prime(number=2305843009213693951) is True


def test_only_whole_numbers_are_accepted():
    with pytest.raises(TypeError):
        is_prime(number=7.0)
    with pytest.raises(TypeError):
        is_prime(number=True)


def test_numbers_beyond_the_proof_are_refused():
    with pytest.raises(ValueError):
        is_prime(number=10**25)
