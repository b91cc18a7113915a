import pytest
from roman_to_number import roman_to_number


def test_letters_add_up():
    assert roman_to_number(numeral="MMXXIV") == 2024
    assert roman_to_number(numeral="VIII") == 8


def test_smaller_letters_before_greater_ones_are_subtracted():
    assert roman_to_number(numeral="IV") == 4
    assert roman_to_number(numeral="CMXLIV") == 944


def test_smallest_and_largest():
    assert roman_to_number(numeral="I") == 1
    assert roman_to_number(numeral="MMMCMXCIX") == 3999


def test_small_letters_are_accepted():
    assert roman_to_number(numeral=" xlii ") == 42


def test_malformed_numerals_are_refused():
    with pytest.raises(ValueError):
        roman_to_number(numeral="IIII")
    with pytest.raises(ValueError):
        roman_to_number(numeral="IC")
    with pytest.raises(ValueError):
        roman_to_number(numeral="")
