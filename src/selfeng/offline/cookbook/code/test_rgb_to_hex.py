import pytest
from rgb_to_hex import rgb_to_hex


def test_parts_become_two_digits_each():
    assert rgb_to_hex(red=255, green=136, blue=0) == "#ff8800"
    assert rgb_to_hex(red=51, green=102, blue=153) == "#336699"


def test_small_parts_keep_their_zero():
    assert rgb_to_hex(red=1, green=2, blue=3) == "#010203"


def test_black_and_white():
    assert rgb_to_hex(red=0, green=0, blue=0) == "#000000"
    assert rgb_to_hex(red=255, green=255, blue=255) == "#ffffff"


def test_too_large_parts_are_refused():
    with pytest.raises(ValueError):
        rgb_to_hex(red=256, green=0, blue=0)


def test_negative_parts_are_refused():
    with pytest.raises(ValueError):
        rgb_to_hex(red=0, green=0, blue=-1)
