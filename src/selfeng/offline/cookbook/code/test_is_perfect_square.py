from is_perfect_square import is_perfect_square


def test_squares():
    assert is_perfect_square(number=49) is True
    assert is_perfect_square(number=144) is True


def test_other_numbers():
    assert is_perfect_square(number=50) is False
    assert is_perfect_square(number=2) is False


def test_zero_and_one_are_squares():
    assert is_perfect_square(number=0) is True
    assert is_perfect_square(number=1) is True


def test_negative_numbers_are_not():
    assert is_perfect_square(number=-4) is False


def test_large_numbers_are_told_exactly():
    assert is_perfect_square(number=10**30) is True
    assert is_perfect_square(number=10**30 + 1) is False
