import pytest
from convert_base import convert_base


def test_binary_to_decimal():
    assert convert_base(number="1010", from_base=2, to_base=10) == "10"


def test_decimal_to_binary():
    assert convert_base(number="10", from_base=10, to_base=2) == "1010"


def test_decimal_and_hexadecimal():
    assert convert_base(number="255", from_base=10, to_base=16) == "ff"
    assert convert_base(number="FF", from_base=16, to_base=10) == "255"


def test_prefixes_and_signs():
    assert convert_base(number="0x1f", from_base=16, to_base=2) == "11111"
    assert convert_base(number="-8", from_base=10, to_base=8) == "-10"


def test_zero_stays_zero():
    assert convert_base(number="0", from_base=10, to_base=2) == "0"


def test_digits_beyond_the_base_are_refused():
    with pytest.raises(ValueError):
        convert_base(number="102", from_base=2, to_base=10)


def test_impossible_bases_are_refused():
    with pytest.raises(ValueError):
        convert_base(number="10", from_base=1, to_base=10)
    with pytest.raises(ValueError):
        convert_base(number="10", from_base=10, to_base=37)
