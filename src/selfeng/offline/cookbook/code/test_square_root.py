import pytest
from square_root import square_root


def test_roots_of_perfect_squares():
    assert square_root(number=144) == 12
    assert square_root(number=1) == 1


def test_roots_of_other_numbers():
    assert square_root(number=2) == pytest.approx(1.4142135623730951)


def test_roots_of_decimal_fractions():
    assert square_root(number=0.25) == 0.5


def test_root_of_zero():
    assert square_root(number=0) == 0


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError):
        square_root(number=-4)
