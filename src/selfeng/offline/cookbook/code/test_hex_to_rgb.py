import pytest
from hex_to_rgb import hex_to_rgb


def test_six_digits():
    assert hex_to_rgb(color="#ff8800") == [255, 136, 0]
    assert hex_to_rgb(color="336699") == [51, 102, 153]


def test_three_digits_stand_for_doubled_ones():
    assert hex_to_rgb(color="#f80") == [255, 136, 0]


def test_capitals_do_not_matter():
    assert hex_to_rgb(color="#FFaa00") == [255, 170, 0]


def test_black_and_white():
    assert hex_to_rgb(color="#000000") == [0, 0, 0]
    assert hex_to_rgb(color="#fff") == [255, 255, 255]


def test_other_texts_are_refused():
    with pytest.raises(ValueError):
        hex_to_rgb(color="#ggg")
    with pytest.raises(ValueError):
        hex_to_rgb(color="#ff88")
