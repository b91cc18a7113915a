import pytest
from number_to_roman import number_to_roman


def test_letters_add_up():
    assert number_to_roman(number=2024) == "MMXXIV"
    assert number_to_roman(number=8) == "VIII"


def test_fours_and_nines_are_subtracted():
    assert number_to_roman(number=4) == "IV"
    assert number_to_roman(number=49) == "XLIX"
    assert number_to_roman(number=944) == "CMXLIV"


def test_single_letters():
    assert number_to_roman(number=500) == "D"
    assert number_to_roman(number=1000) == "M"


def test_smallest_and_largest():
    assert number_to_roman(number=1) == "I"
    assert number_to_roman(number=3999) == "MMMCMXCIX"


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError):
        number_to_roman(number=0)
    with pytest.raises(ValueError):
        number_to_roman(number=4000)


def test_only_whole_numbers_are_accepted():
    with pytest.raises(TypeError):
        number_to_roman(number=3.5)
