from sum_digits import sum_digits


def test_digits_are_added():
    assert sum_digits(number=12345) == 15
    assert sum_digits(number=999) == 27


def test_single_digit_is_its_own_sum():
    assert sum_digits(number=7) == 7


def test_zeros_add_nothing():
    assert sum_digits(number=0) == 0
    assert sum_digits(number=1000) == 1


def test_sign_does_not_matter():
    assert sum_digits(number=-42) == 6
